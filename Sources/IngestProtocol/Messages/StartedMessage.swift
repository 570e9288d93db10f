package import MediaCore

/// The first message of a broadcast: client name, orientation convention and expected tracks.
package struct StartedMessage: Equatable, Sendable {
    package static let fixedBytes = 28

    /// The tracks that a client intends to send. It is a hint: other tracks may come, and these may not.
    package struct Tracks: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let video = Tracks(rawValue: 1 << 0)
        package static let audioApp = Tracks(rawValue: 1 << 1)
        package static let audioMic = Tracks(rawValue: 1 << 2)
    }

    /// Protocol versions that the client speaks.
    package var versions: ClosedRange<UInt8>
    package var convention: OrientationConvention
    /// Unknown numbers are read as `other`.
    package var source: SourceKind
    /// In pixels, as sent, before the picture is turned; zero for no hint.
    package var hintWidth: Int
    package var hintHeight: Int
    /// Nil for no hint.
    package var hintRate: FrameRate?
    package var tracks: Tracks
    /// At most 64 bytes of UTF-8, without control characters.
    package let clientName: String

    package init(
        clientName: String, convention: OrientationConvention, source: SourceKind = .screen,
        versions: ClosedRange<UInt8> = MessageHeader.version...MessageHeader.version,
        hintWidth: Int = 0, hintHeight: Int = 0, hintRate: FrameRate? = nil, tracks: Tracks = []
    ) {
        self.clientName = WireText.bounded(WireText.sanitised(clientName), to: IngestLimits.maxNameBytes)
        self.convention = convention
        self.source = source
        self.versions = versions
        self.hintWidth = hintWidth
        self.hintHeight = hintHeight
        self.hintRate = hintRate
        self.tracks = tracks
    }

    /// Decodes a body. Every error is fatal, so that no broadcast starts with an unclear setup.
    package static func decode(body: RawSpan) throws(ProtocolError) -> StartedMessage {
        try MessageBody.check(
            body, fixed: fixedBytes,
            texts: [.init(lengthAt: 24, limit: IngestLimits.maxNameBytes, name: "client name")],
            in: .started, fatal: true)
        let (low, high) = (body.uint8(at: 0), body.uint8(at: 1))
        guard low <= high, (low...high).contains(MessageHeader.version) else {
            throw ProtocolError(
                .unsupportedVersion, fatal: true,
                "started: the client speaks protocol versions \(low) to \(high); the daemon supports "
                    + "version \(MessageHeader.version)")
        }
        let rate = (body.size(at: 12), body.size(at: 16))
        return StartedMessage(
            clientName: WireText.decode(body, from: fixedBytes, lengthAt: 24),
            convention: try convention(body.uint8(at: 2)),
            source: SourceKind(rawValue: body.uint8(at: 3)) ?? .other,
            versions: low...high, hintWidth: body.size(at: 4), hintHeight: body.size(at: 8),
            hintRate: rate.0 > 0 && rate.1 > 0 ? FrameRate(rate.0, rate.1) : nil,
            tracks: Tracks(rawValue: body.uint32(at: 20)))
    }

    private static func convention(_ raw: UInt8) throws(ProtocolError) -> OrientationConvention {
        if let convention = OrientationConvention(rawValue: raw) { return convention }
        throw ProtocolError(
            .orientationConvention, fatal: true,
            "started: "
                + (raw == 0 ? "the orientation convention is missing" : "orientation convention \(raw) does not exist")
                + "; send 1 (exif: the meaning of CGImagePropertyOrientation) or 2 (replaykit: the "
                + "meaning of RPVideoSampleOrientationKey). The daemon cannot guess it: the same numbers mean opposite "
                + "quarter turns, so a wrong guess would turn pictures upside down")
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.started, sequence: sequence) { bytes in
            bytes.append(versions.lowerBound)
            bytes.append(versions.upperBound)
            bytes.append(convention.rawValue)
            bytes.append(source.rawValue)
            bytes.append(uint32: hintWidth)
            bytes.append(uint32: hintHeight)
            bytes.append(uint32: hintRate?.numerator ?? 0)
            bytes.append(uint32: hintRate?.denominator ?? 0)
            bytes.append(littleEndian: tracks.rawValue)
            bytes.append(littleEndian: UInt16(clientName.utf8.count))
            bytes.append(zeros: 2)
            bytes.append(contentsOf: clientName.utf8)
            bytes.append(zeros: WireText.padding(after: clientName.utf8.count))
        }
    }
}
