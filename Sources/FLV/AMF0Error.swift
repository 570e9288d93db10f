/// Why bytes could not be read as AMF0. Offsets count from the first byte of the input.
package enum AMF0Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// A value extends beyond the input.
    case truncated(offset: Int)
    /// An unknown marker, or one that RTMP never uses (references, movie clips, record sets, AMF3).
    case unreadableMarker(UInt8, offset: Int)
    case inputTooLong(bytes: Int, limit: Int)
    case tooDeep(limit: Int)
    case tooManyValues(limit: Int)

    package var description: String {
        switch self {
        case .truncated(let offset): "AMF0 value ends early, at byte \(offset)"
        case .unreadableMarker(let marker, let offset): "AMF0 marker \(marker) at byte \(offset) is not one RTMP uses"
        case .inputTooLong(let bytes, let limit): "AMF0 input of \(bytes) bytes exceeds the limit of \(limit)"
        case .tooDeep(let limit): "AMF0 objects are nested more than \(limit) deep"
        case .tooManyValues(let limit): "AMF0 input holds more than \(limit) values"
        }
    }
}
