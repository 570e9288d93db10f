package struct AudioEncoderSettings: Equatable, Sendable {
    /// The libavcodec name of an AAC-LC encoder: aac, libfdk_aac, ...
    package var encoder = "aac"
    /// Frames a second; a sample rate of AAC.
    package var sampleRate: Int
    /// 1 or 2.
    package var channels: Int
    /// Bits a second, 8,000 to 512,000.
    package var bitrate: Int

    package init(sampleRate: Int = 48_000, channels: Int = 2, bitrate: Int = 128_000) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitrate = bitrate
    }

    func validate() throws(EncodingError) {
        guard (8_000...96_000).contains(sampleRate) else {
            throw .invalidSetting("an audio sample rate of \(sampleRate) Hz is not between 8 and 96 kHz")
        }
        guard (1...2).contains(channels) else { throw .invalidSetting("\(channels) audio channels are not 1 or 2") }
        guard (8_000...512_000).contains(bitrate) else {
            throw .invalidSetting("an audio bitrate of \(bitrate) bit/s is not between 8 and 512 kbit/s")
        }
    }
}
