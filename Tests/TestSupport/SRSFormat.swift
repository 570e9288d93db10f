/// How SRS with default settings (`try_annexb_first on`) reads a publisher's access units: it guesses their format from
/// the first one, and keeps it. The rule is that of SrsFormat::video_nalu_demux in SRS 7.0.18.
package struct SRSFormat: Sendable {
    package enum Format: Sendable {
        case unknown
        case annexB
        case lengthPrefixed
    }

    package private(set) var format = Format.unknown

    package init() {}

    /// Takes one access unit, without FLV's five bytes. Throws if SRS would end the connection.
    package mutating func take(_ accessUnit: [UInt8]) throws {
        switch format {
        case .annexB: try Self.readAnnexB(accessUnit)
        case .lengthPrefixed: try Self.readLengthPrefixed(accessUnit)
        case .unknown:
            do {
                try Self.readAnnexB(accessUnit)
                format = .annexB
            } catch {
                try Self.readLengthPrefixed(accessUnit)
                format = .lengthPrefixed
            }
        }
    }

    /// srs_avc_startswith_annexb: any number of zero bytes, then 00 00 01.
    private static func startsWithAnnexB(_ bytes: [UInt8]) -> Bool {
        var at = 0
        while at + 3 <= bytes.count {
            guard bytes[at] == 0, bytes[at + 1] == 0 else { return false }
            if bytes[at + 2] == 1 { return true }
            at += 1
        }
        return false
    }

    private static func readAnnexB(_ bytes: [UInt8]) throws {
        guard startsWithAnnexB(bytes) else { throw TestFailure("demux NALU : avc demux annexb : not annexb") }
    }

    private static func readLengthPrefixed(_ bytes: [UInt8]) throws {
        var at = 0
        while at < bytes.count {
            guard at + 4 <= bytes.count else { throw TestFailure("avc demux ibmf: a length that ends early") }
            let count = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            guard count <= bytes.count - at - 4 else { throw TestFailure("avc demux ibmf: a unit that ends early") }
            at += 4 + count
        }
    }
}

/// The messages that a server receives from a publisher (RTMP 1.0, 5.3), parsed without any of the product's code.
package struct PublishedMessages: Sendable {
    package struct Message: Sendable {
        /// 8 audio, 9 video, 18 data, 20 command.
        package var type: UInt8
        /// Milliseconds.
        package var timestamp: UInt32
        package var body: [UInt8]

        /// The access unit of a video message; nil for other messages, including sequence headers.
        package var accessUnit: [UInt8]? { type == 9 && body.count > 5 && body[1] == 1 ? Array(body[5...]) : nil }
        /// Whether this is audio or video, but not a sequence header.
        package var isMedia: Bool { (type == 8 || type == 9) && body.count > 2 && body[1] == 1 }
    }

    private struct ChunkStream {
        var type: UInt8 = 0
        var length = 0
        var timestamp: UInt32 = 0
        var field: UInt32 = 0
        var isExtended = false
        var body: [UInt8] = []
    }

    private var chunkSize = 128
    private var streams: [Int: ChunkStream] = [:]
    private var bytes: [UInt8] = []
    package private(set) var messages: [Message] = []

    package init() {}

    /// - Parameter new: the bytes after the handshake, in any portions.
    package mutating func take(_ new: some Sequence<UInt8>) {
        bytes += new
        var at = 0
        while let end = chunk(at: at) { at = end }
        bytes.removeFirst(at)
    }

    /// Reads one chunk. Returns its end; nil if it is not complete.
    private mutating func chunk(at start: Int) -> Int? {
        var at = start
        func number(_ count: Int) -> UInt32? {
            guard at + count <= bytes.count else { return nil }
            return bytes[at..<at + count].reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard let first = number(1) else { return nil }
        at += 1
        // The publisher uses chunk streams 2 to 63 only.
        let (format, id) = (first >> 6, Int(first & 63))
        var stream = streams[id] ?? ChunkStream()
        let isNew = stream.body.isEmpty
        if format < 3 {
            guard let field = number(3) else { return nil }
            at += 3
            (stream.field, stream.isExtended) = (field, field == 0xff_ffff)
        }
        if format < 2 {
            guard let word = number(4) else { return nil }
            at += 4
            (stream.length, stream.type) = (Int(word >> 8), UInt8(word & 255))
        }
        if format == 0 { at += 4 }
        if stream.isExtended {
            guard let field = number(4) else { return nil }
            at += 4
            stream.field = field
        }
        let count = min(chunkSize, stream.length - stream.body.count)
        guard at + count <= bytes.count else { return nil }
        if isNew { stream.timestamp = format == 0 ? stream.field : stream.timestamp &+ stream.field }
        stream.body += bytes[at..<at + count]
        at += count
        if stream.body.count == stream.length {
            if stream.type == 1 { chunkSize = stream.body.reduce(0) { $0 << 8 | Int($1) } }
            messages.append(Message(type: stream.type, timestamp: stream.timestamp, body: stream.body))
            stream.body = []
        }
        streams[id] = stream
        return at
    }
}
