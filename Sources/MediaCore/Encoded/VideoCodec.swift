/// The codec of the video track.
///
/// Code that distinguishes codecs switches over this type without a default, so that the compiler finds all places:
/// `VideoCodec+Bitstream` and `FLVVideoTag` of FLV, and `VideoCodec+LibAV` of Encoding.
package enum VideoCodec: CaseIterable, Sendable {
    case h264

    /// For people.
    package var name: String {
        switch self {
        case .h264: "H.264"
        }
    }

    /// All names, for people.
    package static var names: String { allCases.map(\.name).joined(separator: " or ") }
}
