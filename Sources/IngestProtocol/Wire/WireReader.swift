/// Little-endian numbers in borrowed bytes. A read past the end traps. So a decoder, which compares lengths first,
/// cannot read other memory even if it is wrong.
extension RawSpan {
    func uint8(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    func uint16(at offset: Int) -> UInt16 {
        UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
    func uint32(at offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    func uint64(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    func int64(at offset: Int) -> Int64 { Int64(bitPattern: uint64(at: offset)) }
    func float64(at offset: Int) -> Double { Double(bitPattern: uint64(at: offset)) }
    /// An unsigned 32-bit number as a size or offset.
    func size(at offset: Int) -> Int { Int(uint32(at: offset)) }
}
