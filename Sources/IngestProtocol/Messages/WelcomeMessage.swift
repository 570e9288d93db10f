package import MediaCore

/// The daemon's answer to `started`: protocol version, supported formats and canvas.
package struct WelcomeMessage: Equatable, Sendable {
    package static let fixedBytes = 48

    package var version: UInt8
    package var limits: IngestLimits
    /// The supported pixel formats, at most 255.
    package var formats: [FourCC]
    package var canvasWidth: Int
    package var canvasHeight: Int
    /// The maximum frame rate. Frames beyond it are dropped.
    package var frameRate: FrameRate
    /// Frames a second of the audio track.
    package var audioRate: Int
    /// Names the broadcast in the daemon's log and status; at most 64 bytes.
    package let broadcastID: String
    /// Nil if the daemon takes no shared memory.
    package var sharedMemory: SharedMemoryOffer?
    /// Whether the daemon uses `DamageField`.
    package var takesDamage: Bool

    package init(
        version: UInt8 = MessageHeader.version, limits: IngestLimits,
        formats: [FourCC] = PixelFormat.allCases.map(\.fourCC),
        canvasWidth: Int, canvasHeight: Int, frameRate: FrameRate, audioRate: Int, broadcastID: String,
        sharedMemory: SharedMemoryOffer? = nil, takesDamage: Bool = false
    ) {
        self.sharedMemory = sharedMemory
        self.takesDamage = takesDamage
        self.version = version
        self.limits = limits
        self.formats = Array(formats.prefix(Int(UInt8.max)))
        self.canvasWidth = canvasWidth
        self.canvasHeight = canvasHeight
        self.frameRate = frameRate
        self.audioRate = audioRate
        self.broadcastID = WireText.bounded(WireText.sanitised(broadcastID), to: IngestLimits.maxNameBytes)
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> WelcomeMessage {
        let formatCount = body.byteCount > 1 ? Int(body.uint8(at: 1)) : 0
        try MessageBody.check(
            body, fixed: fixedBytes, list: 4 * formatCount,
            texts: [.init(lengthAt: 44, limit: IngestLimits.maxNameBytes, name: "broadcast id")],
            in: .welcome, fatal: true)
        let rate = (body.size(at: 32), body.size(at: 36))
        guard rate.0 > 0, rate.1 > 0 else {
            throw ProtocolError(.malformedBody, fatal: true, "welcome: \(rate.0)/\(rate.1) is not a frame rate")
        }
        var formats: [FourCC] = []
        formats.reserveCapacity(formatCount)
        for index in 0..<formatCount {
            formats.append(FourCC(rawValue: body.uint32(at: fixedBytes + 4 * index).byteSwapped))
        }
        let textEnd = fixedBytes + 4 * formatCount + Int(body.uint16(at: 44))
        let extensions = textEnd + WireText.padding(after: textEnd)
        let offer = MessageExtensions.find(.sharedMemoryOffer, in: body, from: extensions)
        return WelcomeMessage(
            version: body.uint8(at: 0),
            limits: IngestLimits(
                maxWidth: body.size(at: 4), maxHeight: body.size(at: 8), maxVideoPayload: body.size(at: 12),
                maxAudioPayload: body.size(at: 16), maxBody: body.size(at: 20)),
            formats: formats, canvasWidth: body.size(at: 24), canvasHeight: body.size(at: 28),
            frameRate: FrameRate(rate.0, rate.1), audioRate: body.size(at: 40),
            broadcastID: WireText.decode(body, from: fixedBytes + 4 * formatCount, lengthAt: 44),
            sharedMemory: offer.flatMap { SharedMemoryOffer(body.extracting($0)) },
            takesDamage: MessageExtensions.find(.damageOffer, in: body, from: extensions) != nil)
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.welcome, sequence: sequence) { bytes in
            bytes.append(version)
            bytes.append(UInt8(formats.count))
            bytes.append(zeros: 2)
            for value in [
                limits.maxWidth, limits.maxHeight, limits.maxVideoPayload, limits.maxAudioPayload, limits.maxBody,
                canvasWidth, canvasHeight, frameRate.numerator, frameRate.denominator, audioRate,
            ] { bytes.append(uint32: value) }
            bytes.append(littleEndian: UInt16(broadcastID.utf8.count))
            bytes.append(zeros: 2)
            for format in formats { bytes.append(littleEndian: format.rawValue.byteSwapped) }
            bytes.append(contentsOf: broadcastID.utf8)
            bytes.append(zeros: WireText.padding(after: broadcastID.utf8.count))
            sharedMemory?.append(to: &bytes)
            if takesDamage {
                bytes.append(littleEndian: MessageExtensions.Tag.damageOffer.rawValue)
                bytes.append(zeros: 2)
            }
        }
    }
}
