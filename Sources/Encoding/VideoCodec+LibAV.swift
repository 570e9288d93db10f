internal import CLibAV
internal import MediaCore

/// What libavcodec calls a codec and its profiles.
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

    /// What the encoder is asked for where the configuration asks for `profile`.
    func profile(_ profile: H264Profile) -> CInt {
        switch (self, profile) {
        case (.h264, .baseline): FF_PROFILE_H264_BASELINE
        case (.h264, .main): FF_PROFILE_H264_MAIN
        case (.h264, .high): FF_PROFILE_H264_HIGH
        }
    }
}

extension LibAVEncoder {
    /// Finds a video encoder by its libavcodec name, whatever its codec.
    init(videoEncoder name: String) throws(EncodingError) {
        try self.init(name: name, codecIDs: VideoCodec.allCases.map(\.codecID), codecNames: VideoCodec.names)
    }
}
