/// The bytes of an FLV tag's body before the payload, stored without allocation.
package struct FLVTagPrefix: ExpressibleByArrayLiteral {
    private typealias Storage = InlineArray<16, UInt8>

    private var bytes = Storage(repeating: 0)
    package private(set) var count = 0

    /// The maximum size of a prefix; appending more traps.
    package static let capacity = Storage(repeating: 0).count

    package init(arrayLiteral elements: UInt8...) { for byte in elements { append(byte) } }

    /// An array, for data that is sent once.
    package var array: [UInt8] { indices.map { bytes[$0] } }

    package var indices: Range<Int> { 0..<count }
    package subscript(index: Int) -> UInt8 { bytes[index] }

    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    /// Appends the low `bytes` bytes of a word, most significant first.
    mutating func append(_ word: UInt32, bytes: Int) {
        for index in 0..<bytes { append(UInt8(truncatingIfNeeded: word >> (8 * (bytes - 1 - index)))) }
    }
}
