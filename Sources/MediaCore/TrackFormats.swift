/// What a muxer must know of the video track before its first packet.
package struct VideoTrackFormat: Equatable, Sendable {
    package var codec: VideoCodec
    package var width: Int
    package var height: Int
    package var frameRate: FrameRate
    /// Bits a second asked of the encoder.
    package var bitrate: Int
    /// What a decoder needs before the first frame: the record of ISO/IEC 14496-15 for the codec, such as an
    /// AVCDecoderConfigurationRecord.
    package var decoderConfiguration: [UInt8]
    /// The encoder's name as libavcodec knows it.
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

/// What a muxer must know of the audio track before its first packet.
package struct AudioTrackFormat: Equatable, Sendable {
    package var sampleRate: Int
    package var channels: Int
    /// Bits a second asked of the encoder.
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

/// Both tracks: fixed for the life of a broadcast, so that sequence headers are sent once a connection.
package struct BroadcastFormat: Equatable, Sendable {
    package var video: VideoTrackFormat
    package var audio: AudioTrackFormat

    package init(video: VideoTrackFormat, audio: AudioTrackFormat) {
        self.video = video
        self.audio = audio
    }
}
