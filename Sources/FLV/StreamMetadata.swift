package import MediaCore

/// The onMetaData script data that tells servers and players what the tracks are.
///
/// Names and units are those that OBS and ffmpeg write; data rates are in units of 1,000 bits a second.
package enum StreamMetadata {
    /// Bytes from the start of a body without "@setDataFrame" to the eight bytes of `duration` (big-endian Double,
    /// seconds), for a file that is completed when it ends.
    package static let durationOffset = 29
    /// The same for `fileSize` (bytes).
    package static let fileSizeOffset = 48

    /// The body of an onMetaData tag or message.
    ///
    /// - Parameters:
    ///   - encoder: who made the stream, for people.
    ///   - setDataFrame: true for RTMP, where the server is asked to keep the data for later viewers; false for files.
    package static func body(_ format: BroadcastFormat, encoder: String, setDataFrame: Bool) -> [UInt8] {
        let properties: [AMF0Property] = [
            AMF0Property("duration", .number(0)),
            AMF0Property("fileSize", .number(0)),
            AMF0Property("width", .number(Double(format.video.width))),
            AMF0Property("height", .number(Double(format.video.height))),
            AMF0Property("videocodecid", .number(FLVVideoTag(format.video.codec).metadataCodecID)),
            AMF0Property("videodatarate", .number(Double(format.video.bitrate) / 1000)),
            AMF0Property("framerate", .number(format.video.frameRate.framesPerSecond)),
            AMF0Property("audiocodecid", .number(FLVAudioTag.metadataCodecID)),
            AMF0Property("audiodatarate", .number(Double(format.audio.bitrate) / 1000)),
            AMF0Property("audiosamplerate", .number(Double(format.audio.sampleRate))),
            AMF0Property("audiosamplesize", .number(16)),
            AMF0Property("audiochannels", .number(Double(format.audio.channels))),
            AMF0Property("stereo", .boolean(format.audio.channels == 2)),
            AMF0Property("encoder", .string(encoder)),
        ]
        var writer = AMF0Writer()
        if setDataFrame { writer.string("@setDataFrame") }
        writer.string("onMetaData")
        writer.value(.ecmaArray(properties))
        return writer.bytes
    }
}
