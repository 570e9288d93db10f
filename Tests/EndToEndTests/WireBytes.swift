import IngestProtocol
import MediaCore
import TestSupport

/// Messages as bytes that a test can spoil; offsets are docs/protocol.md's.
struct WireBytes: Sendable {
    var bytes: [UInt8] = []

    init(_ encode: (inout [UInt8]) -> Void) { encode(&bytes) }

    /// Overwrites `count` little-endian bytes of the header.
    func header(_ offset: Int, _ count: Int, _ value: UInt64) -> WireBytes { patched(offset, count, value) }
    /// Overwrites `count` little-endian bytes of the body.
    func body(_ offset: Int, _ count: Int, _ value: UInt64) -> WireBytes { patched(16 + offset, count, value) }
    /// Adds an extension behind a body that is the message's end so far, and counts it in the header.
    func adding(extension tag: UInt16, length: UInt16, value: [UInt8]) -> WireBytes {
        var copy = self
        for field in [tag, length] { copy.bytes += [UInt8(truncatingIfNeeded: field), UInt8(field >> 8)] }
        copy.bytes += value
        return copy.patched(4, 2, UInt64(copy.bytes.count - 16))
    }
    /// Cuts the body and says so in the header.
    func cut(toBody count: Int) -> WireBytes {
        var copy = self
        copy.bytes.removeSubrange((16 + count)...)
        return copy.patched(4, 2, UInt64(count))
    }
    func followed(by payload: [UInt8]) -> WireBytes {
        var copy = self
        copy.bytes += payload
        return copy
    }

    private func patched(_ offset: Int, _ count: Int, _ value: UInt64) -> WireBytes {
        var copy = self
        for index in 0..<count { copy.bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))) }
        return copy
    }

    // MARK: Good messages to start from

    static func started(_ sequence: UInt32 = 0) -> WireBytes {
        WireBytes { StartedMessage(clientName: "hostile", convention: .exif).encode(sequence: sequence, into: &$0) }
    }

    static let picture = RawSample(RGBImage(width: 32, height: 32, filling: RGB(0.5, 0.5, 0.5)), format: .i420)

    /// Header and body of a 32x32 I420 sample; its payload has 1536 bytes.
    static func video(_ sequence: UInt32, pts: MediaTime = .zero) -> WireBytes {
        WireBytes {
            VideoMessage(pts: pts, format: picture.format, orientation: .up)
                .encode(sequence: sequence, payloadBytes: picture.payload.count, into: &$0)
        }
    }

    /// Header and body of ten frames of 16-bit stereo; its payload has 40 bytes.
    static func audio(_ sequence: UInt32, pts: MediaTime = .zero) -> WireBytes {
        let format = AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16)
        return WireBytes {
            AudioMessage(pts: pts, format: format, frames: 10).encode(.app, sequence: sequence, into: &$0)
        }
    }

    static func bare(_ type: MessageType, _ sequence: UInt32) -> WireBytes {
        WireBytes { BareMessage.encode(type, sequence: sequence, into: &$0) }
    }

    static func annotated(_ sequence: UInt32) -> WireBytes {
        WireBytes { AnnotatedMessage(key: "title", value: "a test").encode(sequence: sequence, into: &$0) }
    }

    static func finished(_ sequence: UInt32) -> WireBytes {
        WireBytes { FinishedMessage(reason: .sourceEnded).encode(sequence: sequence, into: &$0) }
    }
}
