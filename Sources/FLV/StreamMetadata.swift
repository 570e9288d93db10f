package import MediaCore

/// The onMetaData script data, which describes the tracks to servers and players.
///
/// Names and units are those of OBS and ffmpeg; data rates are in kbit/s.
package enum StreamMetadata {
    /// The offset of `duration` in a body without "@setDataFrame", where a file's duration is filled in. Eight bytes, a
    /// big-endian Double in seconds.
    package static let durationOffset = 29
    /// The offset of `fileSize`, a big-endian Double in bytes.
    package static let fileSizeOffset = 48

    /// The body of an onMetaData tag or message.
    ///
    /// - Parameters:
    ///   - encoder: the name of the encoder, for people.
    ///   - setDataFrame: true for RTMP, so that the server keeps the data for later viewers; false for files.
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
