internal import MediaCore

/// Options of libx264, by libavcodec's and x264's names, that users cannot set: other settings determine them, or they
/// would change the stream from what destinations expect.
enum X264ReservedOptions {
    /// Why an option is refused, to append to its name; nil if it is allowed. Names keys of the configuration, from
    /// which all options come.
    static func objection(to option: X264Option) -> String? {
        let name = option.canonicalName
        let positive = ["no-", "no"].first { name.hasPrefix($0) }.map { String(name.dropFirst($0.count)) }
        return objections[name] ?? positive.flatMap { objections[$0] }
    }

    private static let objections: [String: String] = {
        var objections: [String: String] = [:]
        for (names, objection) in groups { for name in names { objections[name] = objection } }
        return objections
    }()

    private static let groups: [(names: [String], objection: String)] = [
        (
            ["b", "maxrate", "bufsize", "crf", "crf-max", "qp", "bitrate", "vbv-maxrate", "vbv-bufsize", "nal-hrd"],
            "is decided by video.bitrate_kbps and video.vbv_ms"
        ),
        (["preset"], "is decided by video.preset"),
        (["tune"], "is decided by video.tune"),
        (["profile"], "is decided by video.profile"),
        (["threads", "sliced-threads", "thread-type"], "is decided by video.threads"),
        (["g", "keyint", "keyint-min", "min-keyint"], "is decided by video.keyframe_interval_ms"),
        (["fps", "timebase"], "is decided by video.frame_rate"),
        (["fullrange", "range", "input-range", "color-range"], "is decided by video.color_range"),
        (["colormatrix", "colorspace"], "is decided by video.color_matrix"),
        (["interlaced", "tff", "bff", "fake-interlaced"], "is not available: pictures are progressive"),
        (["pass", "stats"], "is not available: a live stream has one pass"),
        (["force-cfr"], "is not available: a variable frame rate delays the stream by a frame"),
        (["annexb"], "is not available: FLV has lengths in place of start codes"),
    ]
}
