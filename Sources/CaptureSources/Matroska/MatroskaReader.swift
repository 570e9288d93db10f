import MediaCore

/// Reads Matroska (RFC 9559), in which GStreamer and ffmpeg write raw video and PCM to a pipe. Times are in
/// milliseconds, unless the stream has another scale. One thread.
///
/// Elements that are not needed are skipped. There is no search for the next element after damage.
final class MatroskaReader: ContainerReader {
    /// The largest header that is kept.
    private static let maxHeaderBytes = 1 << 20
    private static let maxTracks = 16

    private let reader: InputReader
    private(set) var streams: [MatroskaTrack] = []
    /// The nanoseconds of a unit of time.
    private var scale: Int128 = 1_000_000
    /// The time of the current cluster, in units.
    private var clusterTime: Int128 = 0
    private var payloadLeft = 0
    /// The position in the input at which the segment ends; nil if it is not known.
    private var end: Int?
    private(set) var isCutShort = false

    /// Whether an input begins with the head of EBML.
    static func begins(_ reader: InputReader) throws(InputError) -> Bool {
        try reader.peek(4).elementsEqual([0x1a, 0x45, 0xdf, 0xa3])
    }

    /// Reads the headers, up to the first cluster.
    init(_ reader: InputReader) throws(InputError) {
        self.reader = reader
        try begin()
    }

    private func begin() throws(InputError) {
        (clusterTime, payloadLeft) = (0, 0)
        guard let header = try head(), header.id == MatroskaID.header else {
            throw InputError("the Matroska stream does not begin with its header")
        }
        try skip(header)
        streams = []
        while let element = try head() {
            switch element.id {
            case MatroskaID.segment: end = element.size.map { reader.position + $0 }
            case MatroskaID.info:
                try EBML.visit(body(element)[...]) { (id, body) throws(InputError) in
                    if id == MatroskaID.scale, !body.isEmpty { scale = Int128(try EBML.unsigned(body)) }
                }
                guard scale > 0 else { throw InputError("the Matroska stream has the time scale 0") }
            // Repeated ones are equal (RFC 9559, "identically recurring").
            case MatroskaID.tracks where streams.isEmpty:
                try EBML.visit(body(element)[...]) { (id, body) throws(InputError) in
                    if id == MatroskaID.track { try add(MatroskaTrack(body)) }
                }
            case MatroskaID.cluster:
                guard !streams.isEmpty else {
                    throw InputError("the Matroska stream has a cluster before its tracks are described")
                }
                return
            default: try skip(element)
            }
        }
        guard !streams.isEmpty else { throw InputError("the Matroska stream ends within its headers") }
    }

    private func add(_ track: MatroskaTrack) throws(InputError) {
        guard streams.count < Self.maxTracks else {
            throw InputError("the Matroska stream has more than \(Self.maxTracks) tracks")
        }
        guard track.number > 0, !streams.contains(where: { $0.number == track.number }) else {
            throw InputError("the Matroska stream has no track, or two, of number \(track.number)")
        }
        streams.append(track)
    }

    func next() throws(InputError) -> ContainerFrame? {
        if payloadLeft > 0 {
            defer { payloadLeft = 0 }
            _ = try reader.skip(payloadLeft)
        }
        while let element = try head() {
            switch element.id {
            case MatroskaID.segment, MatroskaID.group: break
            case MatroskaID.cluster: clusterTime = 0
            case MatroskaID.timestamp: clusterTime = Int128(try unsigned(element))
            case MatroskaID.block, MatroskaID.simpleBlock: if let frame = try frame(element) { return frame }
            case MatroskaID.header:
                throw InputError(
                    "another Matroska stream begins; send one stream at a time, or join the films with ffmpeg -f concat"
                )
            default: try skip(element)
            }
        }
        isCutShort = end.map { reader.position < $0 } ?? false
        return nil
    }

    func read(into target: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let wanted = min(target.count, payloadLeft)
        let got = try unsafe reader.fill(UnsafeMutableRawBufferPointer(rebasing: target[..<wanted]))
        payloadLeft = got == wanted ? payloadLeft - got : 0
        return got
    }

    func rewind() throws(InputError) -> Bool {
        guard reader.rewind() else { return false }
        try begin()
        return true
    }

    // MARK: Elements

    private func head() throws(InputError) -> EBML.Head? {
        try EBML.head { () throws(InputError) in try reader.byte() }
    }

    private func body(_ element: EBML.Head) throws(InputError) -> [UInt8] {
        guard let size = element.size, size <= Self.maxHeaderBytes else {
            throw InputError("the Matroska stream has a header of \(element.size.map { "\($0)" } ?? "unknown") bytes")
        }
        var body = [UInt8](repeating: 0, count: size)
        guard try reader.fill(&body, count: size) == size else {
            throw InputError("the Matroska stream ends inside a header")
        }
        return body
    }

    /// Reads an integer without a buffer: each cluster has one.
    private func unsigned(_ element: EBML.Head) throws(InputError) -> UInt64 {
        try EBML.unsigned(byteCount: element.size ?? .max) { () throws(InputError) in try reader.byte() }
    }

    private func skip(_ element: EBML.Head) throws(InputError) {
        guard let size = element.size else {
            throw InputError("the Matroska stream has the element 0x\(String(element.id, radix: 16)) of unknown size")
        }
        guard try reader.skip(size) else { throw InputError("the Matroska stream ends inside an element") }
    }

    // MARK: Blocks

    /// Skips the sizes of the frames in a block. Frames of PCM follow each other without a gap, so that all of them are
    /// one frame. mkvmerge laces PCM.
    private func skipLacing(_ flags: UInt8) throws(InputError) {
        func next() throws(InputError) -> UInt8 {
            guard payloadLeft > 0, let byte = try reader.byte() else {
                throw InputError("the Matroska stream has a block whose lacing is cut off")
            }
            payloadLeft -= 1
            return byte
        }
        let sizes = Int(try next())
        switch flags & 0x06 {
        case 0x02: for _ in 0..<sizes { while try next() == 255 {} }
        case 0x06: for _ in 0..<sizes { _ = try EBML.number { () throws(InputError) in try next() } }
        default: break
        }
    }

    /// Reads the head of a block. Nil for a track that is not described.
    private func frame(_ element: EBML.Head) throws(InputError) -> ContainerFrame? {
        guard let size = element.size, size >= 4 else {
            throw InputError("the Matroska stream has a block that is too short, or of unknown size")
        }
        let (track, numberBytes) = try EBML.number { () throws(InputError) in try reader.byte() }
        guard let high = try reader.byte(), let low = try reader.byte(), let flags = try reader.byte() else {
            throw InputError("the Matroska stream ends inside a block")
        }
        guard size >= numberBytes + 3 else { throw InputError("the Matroska stream has a block that is too short") }
        payloadLeft = size - numberBytes - 3
        guard let index = streams.firstIndex(where: { $0.number == track }) else {
            guard try reader.skip(payloadLeft) else { throw InputError("the Matroska stream ends inside a block") }
            payloadLeft = 0
            return nil
        }
        if flags & 0x06 != 0 { try skipLacing(flags) }
        let offset = Int16(bitPattern: UInt16(high) << 8 | UInt16(low))
        let (time, isTooLarge) = (clusterTime + Int128(offset)).multipliedReportingOverflow(by: scale)
        guard !isTooLarge, let time = MediaTime(ofContainer: time) else {
            throw InputError("the Matroska stream has a time out of range")
        }
        return ContainerFrame(stream: index, time: time, byteCount: payloadLeft)
    }
}
