/// Builds a server's bytes chunk by chunk, valid or invalid.
struct ChunkWriter {
    var bytes: [UInt8] = []
    var chunkSize = 128

    static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    mutating func basicHeader(format: Int, stream: Int) {
        switch stream {
        case 2..<64: bytes.append(UInt8(format << 6 | stream))
        case 64..<320: bytes += [UInt8(format << 6), UInt8(stream - 64)]
        default: bytes += [UInt8(format << 6 | 1), UInt8((stream - 64) & 255), UInt8((stream - 64) >> 8)]
        }
    }

    /// A header of format 0, 1 or 2, with an extended timestamp if needed.
    mutating func header(format: Int, stream: Int, time: Int = 0, length: Int = 0, type: UInt8 = 0, streamID: Int = 0) {
        basicHeader(format: format, stream: stream)
        bytes += Self.bigEndian(min(time, 0xff_ffff), 3)
        if format < 2 { bytes += Self.bigEndian(length, 3) + [type] }
        if format == 0 { bytes += Self.bigEndian(streamID, 4).reversed() }
        if time >= 0xff_ffff { bytes += Self.bigEndian(time, 4) }
    }

    /// A whole message, in chunks.
    mutating func message(
        _ type: UInt8, _ payload: [UInt8], stream: Int = 3, time: Int = 0, streamID: Int = 0, format: Int = 0
    ) {
        if format < 3 {
            header(format: format, stream: stream, time: time, length: payload.count, type: type, streamID: streamID)
        } else {
            continuation(stream: stream, time: time)
        }
        var position = 0
        repeat {
            if position > 0 { continuation(stream: stream, time: time) }
            let count = min(chunkSize, payload.count - position)
            bytes += payload[position..<(position + count)]
            position += count
        } while position < payload.count
    }

    mutating func continuation(stream: Int, time: Int) {
        basicHeader(format: 3, stream: stream)
        if time >= 0xff_ffff { bytes += Self.bigEndian(time, 4) }
    }

    mutating func setChunkSize(_ size: Int) {
        message(1, Self.bigEndian(size, 4), stream: 2)
        chunkSize = size
    }
}
