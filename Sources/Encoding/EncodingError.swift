internal import CLibAV
package import FLV
package import MediaCore

/// Why an encoder could not be opened, or stopped. Each description names the encoder and a remedy.
package enum EncodingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Settings that no encoder can meet.
    case invalidSetting(String)
    /// libavcodec has no encoder of that name; `available` lists the encoders of the wanted codec.
    case encoderNotFound(String, available: [String])
    /// The encoder exists but encodes another codec than `codec`.
    case wrongCodec(encoder: String, codec: String, available: [String])
    /// The encoder accepts neither I420 nor NV12 from memory (for audio: no planar floating point).
    case inputFormat(encoder: String, accepts: [String])
    /// The encoder does not have the option, or refuses its value.
    case option(encoder: String, name: String, value: String, reason: String)
    /// A libavcodec function failed.
    case failed(encoder: String, operation: String, code: Int32, reason: String)
    case outOfMemory(encoder: String)
    /// The encoder's configuration (extradata) cannot be sent to players.
    case configuration(encoder: String, CodecConfigurationError)
    /// A frame's time does not rise; the frame was not encoded.
    case timeDidNotRise(MediaTime, after: MediaTime)
    /// `finish` was called; nothing more is encoded.
    case finished(encoder: String)

    package var description: String {
        switch self {
        case .invalidSetting(let what): what
        case .encoderNotFound(let name, let available):
            "encoder \(name) is not in this libavcodec; it has \(Self.list(available))"
        case .wrongCodec(let encoder, let codec, let available):
            "encoder \(encoder) does not make \(codec); this libavcodec has \(Self.list(available))"
        case .inputFormat(let encoder, let accepts):
            "encoder \(encoder) does not take the pictures or samples of this pipeline; it takes \(Self.list(accepts))"
        case .option(let encoder, let name, let value, let reason):
            "encoder \(encoder) refuses option \(name)=\(value): \(reason)"
        case .failed(let encoder, let operation, let code, let reason):
            "encoder \(encoder): \(operation) failed: \(reason) (\(code))"
        case .outOfMemory(let encoder): "encoder \(encoder): out of memory"
        case .configuration(let encoder, let error): "encoder \(encoder) gave an unusable configuration: \(error)"
        case .timeDidNotRise(let time, let last): "frame at \(time) is not later than the one before it, at \(last)"
        case .finished(let encoder): "encoder \(encoder) has been finished"
        }
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none that would do" : names.joined(separator: ", ")
    }
}

/// Throws an error for a negative return code of libavcodec.
func check(_ code: Int32, _ operation: String, encoder: String) throws(EncodingError) {
    guard code < 0 else { return }
    throw .failed(encoder: encoder, operation: operation, code: code, reason: libavText(of: code))
}

/// libavutil's text for a return code (av_strerror).
func libavText(of code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { buffer in
        unsafe av_strerror(code, buffer.baseAddress, buffer.count)
        return unsafe buffer.baseAddress.map { unsafe String(cString: $0) } ?? ""
    }
}
