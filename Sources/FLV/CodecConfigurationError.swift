/// Why a codec's configuration (extradata) could not be parsed.
package enum CodecConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The structure extends beyond the input.
    case truncated(String)
    /// The specification does not allow a field's value.
    case invalid(String)
    /// The specification allows the value, but this project does not support it.
    case unsupported(String)

    package var description: String {
        switch self {
        case .truncated(let what): "\(what) ends early"
        case .invalid(let what): "\(what) is not valid"
        case .unsupported(let what): "\(what) is not supported"
        }
    }
}
