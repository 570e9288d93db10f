/// The properties of the video track that a muxer needs before the first packet.
package struct VideoTrackFormat: Equatable, Sendable {
    package var codec: VideoCodec
    package var width: Int
    package var height: Int
    package var frameRate: FrameRate
    /// The bits per second that the encoder is asked for.
    package var bitrate: Int
    /// The decoder's set-up before the first frame: the codec's record of ISO/IEC 14496-15, such as an
    /// AVCDecoderConfigurationRecord.
    package var decoderConfiguration: [UInt8]
    /// The encoder's name in libavcodec.
    package var encoderName: String

    package init(
        codec: VideoCodec, width: Int, height: Int, frameRate: FrameRate, bitrate: Int, decoderConfiguration: [UInt8],
        encoderName: String
    ) {
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.bitrate = bitrate
        self.decoderConfiguration = decoderConfiguration
        self.encoderName = encoderName
    }
}

/// The properties of the audio track that a muxer needs before the first packet.
package struct AudioTrackFormat: Equatable, Sendable {
    package var sampleRate: Int
    package var channels: Int
    /// The bits per second that the encoder is asked for.
    package var bitrate: Int
    /// AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1): the body of the AAC sequence header.
    package var audioSpecificConfig: [UInt8]

    package init(sampleRate: Int, channels: Int, bitrate: Int, audioSpecificConfig: [UInt8]) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitrate = bitrate
        self.audioSpecificConfig = audioSpecificConfig
    }
}

/// Both tracks. They are fixed for a whole broadcast, so that each connection sends sequence headers once.
package struct BroadcastFormat: Equatable, Sendable {
    package var video: VideoTrackFormat
    package var audio: AudioTrackFormat

    package init(video: VideoTrackFormat, audio: AudioTrackFormat) {
        self.video = video
        self.audio = audio
    }
}
