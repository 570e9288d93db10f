/// The counters of the client's samples, sent once a second while they change.
package struct CountersMessage: Equatable, Sendable {
    package static let fixedBytes = 24

    /// Pictures that were encoded or unchanged.
    package var framesTaken: UInt64
    /// Pictures that were accepted but not encoded: superseded, above the canvas's frame rate, or out of order.
    package var framesDropped: UInt64
    /// Accepted PCM frames of app and microphone.
    package var audioSamples: UInt64

    package init(framesTaken: UInt64 = 0, framesDropped: UInt64 = 0, audioSamples: UInt64 = 0) {
        self.framesTaken = framesTaken
        self.framesDropped = framesDropped
        self.audioSamples = audioSamples
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> CountersMessage {
        try MessageBody.check(body, fixed: fixedBytes, texts: [], in: .counters, fatal: false)
        return CountersMessage(
            framesTaken: body.uint64(at: 0), framesDropped: body.uint64(at: 8), audioSamples: body.uint64(at: 16))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.counters, sequence: sequence) { bytes in
            bytes.append(littleEndian: framesTaken)
            bytes.append(littleEndian: framesDropped)
            bytes.append(littleEndian: audioSamples)
        }
    }
}
