import MediaCore

/// Reads NUT version 3 (nut.txt of FFmpeg). ffmpeg and mpv use this container to write raw video and PCM with exact
/// times to a pipe. One thread.
///
/// Checksums are not compared, because pipes do not change bytes. There is no search for the next packet: the first
/// byte that is not NUT ends the input.
final class NUTReader: ContainerReader {
    private enum StartCode: UInt64 {
        case main = 0x4e4d_7a56_1f5f_04ad
        case stream = 0x4e53_1140_5bf2_f9db
        case syncPoint = 0x4e4b_e4ad_eeca_4569
        case index = 0x4e58_dd67_2f23_e64e
        case info = 0x4e49_ab68_b596_ba78
    }

    private static let fileID = Array("nut/multimedia container\0".utf8)
    /// The largest packet that is kept; larger ones are skipped.
    private static let maxPacketBytes = 128 << 10
    /// Headers of frames up to this size may be elided, and packets up to this size have no checksum of their header.
    private static let smallBytes: UInt64 = 4096

    private let reader: InputReader
    private var pipe: NUTPipe
    private var header: NUTMainHeader
    private(set) var streams: [NUTStream]
    /// The last time of each stream, in ticks of its time base.
    private var lastTicks: [Int64]
    private var elided: ArraySlice<UInt8> = []
    private var payloadLeft = 0
    /// NUT names no end.
    let isCutShort = false

    private static let fileIDBytes = fileID.count

    /// Reads the headers, up to the first frame.
    init(_ reader: InputReader) throws(InputError) {
        self.reader = reader
        pipe = NUTPipe(reader: reader)
        let start = try reader.peek(Self.fileIDBytes)
        guard start.elementsEqual(Self.fileID) else {
            throw InputError(
                start.isEmpty
                    ? "the input is empty"
                    : "the input is neither NUT nor Matroska; send a film with \(InputError.filmCommand)")
        }
        _ = try reader.skip(Self.fileIDBytes)
        guard try reader.byte() == UInt8(NUTMainHeader.startByte), try Self.startCode(&pipe) == .main else {
            throw InputError("the NUT stream does not begin with its main header")
        }
        header = try NUTMainHeader(Self.packet(&pipe, reader))
        var found: [NUTStream?] = Array(repeating: nil, count: header.streamCount)
        while found.contains(where: { $0 == nil }) {
            guard let byte = try reader.byte() else { throw InputError("the NUT stream ends within its headers") }
            guard byte == UInt8(NUTMainHeader.startByte) else {
                throw InputError("the NUT stream has a frame before all its streams are described")
            }
            switch try Self.startCode(&pipe) {
            case .stream:
                let stream = try NUTStream(Self.packet(&pipe, reader), of: header)
                found[stream.number] = stream
            case .info, .index: try Self.skipPacket(&pipe, reader)
            case .main, .syncPoint: throw InputError("the NUT stream does not describe all its streams")
            }
        }
        streams = found.compactMap { $0 }
        lastTicks = Array(repeating: 0, count: streams.count)
    }

    func next() throws(InputError) -> ContainerFrame? {
        if payloadLeft > 0 || !elided.isEmpty { _ = try skip(payloadLeft + elided.count) }
        while let byte = try reader.byte() {
            if byte == UInt8(NUTMainHeader.startByte) {
                try readPacket()
            } else if try isFileID(byte) {
                throw InputError(
                    "another NUT stream begins; send one stream at a time, or join the films with ffmpeg -f concat")
            } else if let frame = try frame(header.frameCodes[Int(byte)]) {
                return frame
            }
        }
        return nil
    }

    /// Whether a file ID begins with this byte, as in files that are joined. Waits for no byte after the first one that
    /// differs.
    private func isFileID(_ first: UInt8) throws(InputError) -> Bool {
        guard first == Self.fileID[0] else { return false }
        for count in 1..<Self.fileIDBytes {
            guard try reader.peek(count).elementsEqual(Self.fileID[1...count]) else { return false }
        }
        return true
    }

    func read(into target: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        var done = 0
        while done < target.count, let byte = elided.popFirst() {
            unsafe target[done] = byte
            done += 1
        }
        let wanted = min(target.count - done, payloadLeft)
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[done..<done + wanted])
        let got = try unsafe reader.fill(rest)
        payloadLeft = got == wanted ? payloadLeft - got : 0
        return done + got
    }

    func rewind() throws(InputError) -> Bool {
        guard reader.rewind() else { return false }
        (elided, payloadLeft) = ([], 0)
        guard try reader.skip(Self.fileIDBytes) else { return false }
        lastTicks = Array(repeating: 0, count: streams.count)
        return true
    }

    /// Skips bytes of the payload.
    private func skip(_ count: Int) throws(InputError) -> Bool {
        let first = min(count, elided.count)
        elided.removeFirst(first)
        let rest = min(count - first, payloadLeft)
        payloadLeft -= rest
        return try reader.skip(rest)
    }

    // MARK: Packets

    private func readPacket() throws(InputError) {
        switch try Self.startCode(&pipe) {
        case .main:
            let again = try NUTMainHeader(Self.packet(&pipe, reader))
            guard again == header else { throw Self.changed }
        case .stream:
            let stream = try NUTStream(Self.packet(&pipe, reader), of: header)
            guard streams[stream.number] == stream else { throw Self.changed }
        case .syncPoint:
            var packet = NUTPacket(try Self.packet(&pipe, reader))
            try synchronize(packet.number())
        case .index, .info: try Self.skipPacket(&pipe, reader)
        }
    }

    private static let changed = InputError(
        "the NUT stream changes the format of a stream; start a new broadcast for another format")

    /// Sets the last time of all streams. `number` modulo the number of time bases is the index of its time base.
    private func synchronize(_ number: UInt64) throws(InputError) {
        let bases = UInt64(header.timeBases.count)
        let base = header.timeBases[Int(number % bases)]
        for (index, stream) in streams.enumerated() {
            let own = header.timeBases[stream.timeBase]
            let ticks =
                Int128(number / bases) * Int128(base.numerator) * Int128(own.denominator)
                / (Int128(base.denominator) * Int128(own.numerator))
            guard let ticks = Int64(exactly: ticks) else { throw InputError("the NUT stream has a time out of range") }
            lastTicks[index] = ticks
        }
    }

    /// Reads the rest of a start code, after the byte `N`.
    private static func startCode(_ pipe: inout NUTPipe) throws(InputError) -> StartCode {
        var value = UInt64(NUTMainHeader.startByte)
        for _ in 0..<7 { value = value << 8 | UInt64(try pipe.byte()) }
        guard let code = StartCode(rawValue: value) else {
            throw InputError("the input is no NUT stream any more: 0x\(String(value, radix: 16)) is no start code")
        }
        return code
    }

    /// The size of a packet's body, including its checksum.
    private static func packetBytes(_ pipe: inout NUTPipe) throws(InputError) -> UInt64 {
        let size = try pipe.number()
        if size > smallBytes { for _ in 0..<4 { _ = try pipe.byte() } }
        return size
    }

    private static func packet(_ pipe: inout NUTPipe, _ reader: InputReader) throws(InputError) -> [UInt8] {
        let size = try packetBytes(&pipe)
        guard (4...UInt64(maxPacketBytes)).contains(size) else {
            throw InputError("the NUT stream has a header of \(size) bytes")
        }
        var body = [UInt8](repeating: 0, count: Int(size))
        guard try reader.fill(&body, count: body.count) == body.count else {
            throw InputError("the NUT stream ends inside a header")
        }
        body.removeLast(4)
        return body
    }

    /// Skips a packet. The index at the end of a file may be large.
    private static func skipPacket(_ pipe: inout NUTPipe, _ reader: InputReader) throws(InputError) {
        let size = try packetBytes(&pipe)
        guard size < 1 << 40 else { throw InputError("the NUT stream has a packet of \(size) bytes") }
        _ = try reader.skip(Int(size))
    }

    // MARK: Frames

    /// Reads a frame's header. Nil if the frame only ends the relevance of its stream.
    private func frame(_ code: NUTMainHeader.FrameCode) throws(InputError) -> ContainerFrame? {
        var flags = code.flags
        if flags.contains(.codedFlags) { flags = .init(rawValue: flags.rawValue ^ (try pipe.number())) }
        guard !flags.contains(.invalid) else {
            throw InputError("the input is no NUT stream any more: a frame code is invalid")
        }
        guard !flags.contains(.sideData) else {
            throw InputError("the NUT stream has side data, which version 3 has not")
        }
        var (stream, sizeMSB, headerIndex, reserved) = (code.stream, UInt64(0), code.headerIndex, code.reservedCount)
        if flags.contains(.streamID) { stream = try pipe.count(upTo: streams.count - 1, "a stream") }
        guard streams.indices.contains(stream) else { throw InputError("the NUT stream has no stream \(stream)") }
        if flags.contains(.codedPTS) {
            lastTicks[stream] = try ticks(coded: pipe.number(), stream)
        } else {
            lastTicks[stream] = try Self.sum(lastTicks[stream], code.ptsDelta)
        }
        if flags.contains(.sizeMSB) { sizeMSB = try pipe.number() }
        if flags.contains(.matchTime) { _ = try pipe.signed() }
        if flags.contains(.headerIndex) { headerIndex = try pipe.count(upTo: 127, "an elided header") }
        if flags.contains(.reserved) { reserved = try pipe.count(upTo: 128, "reserved fields") }
        for _ in 0..<reserved { _ = try pipe.number() }
        if flags.contains(.checksum) { for _ in 0..<4 { _ = try pipe.byte() } }

        let (high, tooLarge) = sizeMSB.multipliedReportingOverflow(by: code.sizeMultiplier)
        let (size, overflow) = high.addingReportingOverflow(code.sizeLSB)
        guard !tooLarge, !overflow, size < 1 << 40 else { throw InputError("the NUT stream has a frame out of range") }
        guard header.elidedHeaders.indices.contains(headerIndex) else {
            throw InputError("the NUT stream has no elided header \(headerIndex)")
        }
        elided = size > Self.smallBytes ? [] : header.elidedHeaders[headerIndex][...]
        guard size >= elided.count else { throw InputError("the NUT stream has a frame that is too short") }
        payloadLeft = Int(size) - elided.count
        if flags.contains(.endOfRelevance), size == 0 { return nil }
        return ContainerFrame(stream: stream, time: try time(of: stream), byteCount: Int(size))
    }

    /// The last time of a stream.
    private func time(of stream: Int) throws(InputError) -> MediaTime {
        let base = header.timeBases[streams[stream].timeBase]
        let nanoseconds = Int128(lastTicks[stream]) * Int128(base.numerator) * 1_000_000_000 / Int128(base.denominator)
        guard let time = MediaTime(ofContainer: nanoseconds) else {
            throw InputError("the NUT stream has a time out of range")
        }
        return time
    }

    /// A coded time contains the low bits of a time near the last one, or the whole time.
    private func ticks(coded: UInt64, _ stream: Int) throws(InputError) -> Int64 {
        let shift = streams[stream].ptsShift
        guard coded < 1 << 62 else { throw InputError("the NUT stream has a time out of range") }
        let limit: Int64 = 1 << shift
        if coded >= limit { return Int64(coded) - limit }
        let least = try Self.sum(lastTicks[stream], -((limit - 1) / 2))
        return try Self.sum((Int64(coded) &- least) & (limit - 1), least)
    }

    private static func sum(_ a: Int64, _ b: Int64) throws(InputError) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        guard !overflow, sum.magnitude < 1 << 62 else { throw InputError("the NUT stream has a time out of range") }
        return sum
    }
}
