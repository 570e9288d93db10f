/// How the video track is coded.
///
/// Who knows codecs apart switches over this type without a default, so that the compiler finds the places:
/// `VideoCodec+Bitstream` and `FLVVideoTag` of FLV, and `VideoCodec+LibAV` of Encoding.
package enum VideoCodec: CaseIterable, Sendable {
    case h264

    /// For people.
    package var name: String {
        switch self {
        case .h264: "H.264"
        }
    }

    /// Of all, for people.
    package static var names: String { allCases.map(\.name).joined(separator: " or ") }
}
