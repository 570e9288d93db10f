package import MediaCore

/// A piece of PCM: when its first frame plays and how its samples are stored. The samples follow as the payload.
///
/// Every error is non-fatal: the sample is refused, its payload skipped. Decoding allocates nothing unless it fails.
package struct AudioMessage: Equatable, Sendable {
    package static let fixedBytes = 52

    /// By the client's clock, which is the same for its video.
    package var pts: MediaTime
    package var format: AudioFormat
    /// The number of samples of one channel.
    package var frames: Int

    /// Bytes of the payload.
    package var payloadBytes: Int { frames * format.bytesPerFrame }

    package init(pts: MediaTime, format: AudioFormat, frames: Int) {
        self.pts = pts
        self.format = format
        self.frames = frames
    }

    /// Reads a body and checks it against a payload of `payloadBytes`, which must be exactly the announced frames.
    package static func decode(body: RawSpan, payloadBytes: Int, limits: IngestLimits, type: MessageType = .audioApp)
        throws(ProtocolError) -> AudioMessage
    {
        try MessageBody.check(body, fixed: fixedBytes, in: type, fatal: false)
        let format = try StreamDescription(body, at: 8).format(in: type)
        let frames = body.size(at: 48)
        // At most 2^32 times 32 bytes: far from overflow.
        guard frames > 0, frames * format.bytesPerFrame == payloadBytes else {
            throw ProtocolError(
                .audioPayloadMismatch, fatal: false,
                frames == 0
                    ? "\(type): a sample without frames"
                    : "\(type): \(frames) frames of \(format.bytesPerFrame) bytes are "
                        + "\(frames * format.bytesPerFrame) bytes, but the payload has \(payloadBytes)")
        }
        guard payloadBytes <= limits.maxAudioPayload else {
            throw ProtocolError(
                .audioPayloadMismatch, fatal: false,
                "\(type): \(payloadBytes) bytes of PCM; at most \(limits.maxAudioPayload) are allowed in one message")
        }
        return AudioMessage(pts: MediaTime(nanoseconds: body.int64(at: 0)), format: format, frames: frames)
    }

    /// Appends header and body. The payload of `payloadBytes` is sent after them.
    package func encode(_ source: AudioSource, sequence: UInt32, into bytes: inout [UInt8]) {
        let type: MessageType = source == .app ? .audioApp : .audioMic
        bytes.appendMessage(type, sequence: sequence, payloadBytes: payloadBytes) { bytes in
            bytes.append(littleEndian: pts.nanoseconds)
            StreamDescription(format).encode(into: &bytes)
            bytes.append(uint32: frames)
        }
    }
}
