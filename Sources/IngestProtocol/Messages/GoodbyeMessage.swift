/// Why the daemon ends a broadcast.
package enum GoodbyeReason: UInt16, CaseIterable, Sendable {
    /// The client sent `finished`, and all its samples were sent.
    case finished = 0
    /// The daemon was stopped.
    case daemonStopping = 1
    /// An operator ended the broadcast.
    case endedByOperator = 2
    /// The broadcast failed, or not all of it was sent. The text states the cause.
    case failed = 3
}

/// The daemon's last message, with the counters of the samples.
package struct GoodbyeMessage: Equatable, Sendable {
    package static let fixedBytes = 32

    /// The raw number.
    package var reasonRaw: UInt16
    /// A sentence of at most 1024 bytes.
    package let text: String
    /// Pictures that were encoded or unchanged.
    package var framesTaken: UInt64
    /// Pictures that were accepted but not encoded: superseded, above the canvas's frame rate, or out of order.
    package var framesDropped: UInt64
    /// Accepted PCM frames of app and microphone.
    package var audioSamples: UInt64

    package var reason: GoodbyeReason? { GoodbyeReason(rawValue: reasonRaw) }

    package init(
        _ reason: GoodbyeReason, text: String, framesTaken: UInt64, framesDropped: UInt64, audioSamples: UInt64
    ) {
        self.init(
            reasonRaw: reason.rawValue, text: text, framesTaken: framesTaken, framesDropped: framesDropped,
            audioSamples: audioSamples)
    }

    package init(
        reasonRaw: UInt16, text: String, framesTaken: UInt64, framesDropped: UInt64, audioSamples: UInt64
    ) {
        self.reasonRaw = reasonRaw
        self.text = WireText.bounded(WireText.sanitised(text), to: IngestLimits.maxTextBytes)
        self.framesTaken = framesTaken
        self.framesDropped = framesDropped
        self.audioSamples = audioSamples
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> GoodbyeMessage {
        try MessageBody.check(
            body, fixed: fixedBytes, texts: [.init(lengthAt: 2, limit: IngestLimits.maxTextBytes, name: "text")],
            in: .goodbye, fatal: true)
        return GoodbyeMessage(
            reasonRaw: body.uint16(at: 0), text: WireText.decode(body, from: fixedBytes, lengthAt: 2),
            framesTaken: body.uint64(at: 8), framesDropped: body.uint64(at: 16), audioSamples: body.uint64(at: 24))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.goodbye, sequence: sequence) { bytes in
            bytes.append(littleEndian: reasonRaw)
            bytes.append(littleEndian: UInt16(text.utf8.count))
            bytes.append(zeros: 4)
            bytes.append(littleEndian: framesTaken)
            bytes.append(littleEndian: framesDropped)
            bytes.append(littleEndian: audioSamples)
            bytes.append(contentsOf: text.utf8)
            bytes.append(zeros: WireText.padding(after: text.utf8.count))
        }
    }
}
