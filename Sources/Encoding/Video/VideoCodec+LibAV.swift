internal import CLibAV
internal import MediaCore

/// libavcodec's identifiers of a codec and its profiles.
extension VideoCodec {
    init?(_ codecID: AVCodecID) {
        guard let codec = Self.allCases.first(where: { $0.codecID == codecID }) else { return nil }
        self = codec
    }

    var codecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        }
    }

    /// libavcodec's value for a configured profile.
    func profile(_ profile: H264Profile) -> CInt {
        switch (self, profile) {
        case (.h264, .baseline): FF_PROFILE_H264_BASELINE
        case (.h264, .main): FF_PROFILE_H264_MAIN
        case (.h264, .high): FF_PROFILE_H264_HIGH
        }
    }
}

extension LibAVEncoder {
    /// Finds a video encoder by its libavcodec name, for any supported codec.
    init(videoEncoder name: String) throws(EncodingError) {
        try self.init(name: name, codecIDs: VideoCodec.allCases.map(\.codecID), codecNames: VideoCodec.names)
    }
}
