/// Why a codec's configuration (extradata) was not understood.
package enum CodecConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The structure goes on after its last byte.
    case truncated(String)
    /// A field has a value that its specification does not allow.
    case invalid(String)
    /// A value that the specification allows and this project does not handle.
    case unsupported(String)

    package var description: String {
        switch self {
        case .truncated(let what): "\(what) ends early"
        case .invalid(let what): "\(what) is not valid"
        case .unsupported(let what): "\(what) is not supported"
        }
    }
}
