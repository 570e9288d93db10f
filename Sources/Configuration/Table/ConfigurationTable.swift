internal import MediaCore

/// All keys, in the order of the shipped file.
///
/// The table is built at each use, because a daemon needs it only while it loads a configuration.
enum ConfigurationTable {
    static let sections: [(name: String, summary: String)] = [
        ("ingest", "Where capture clients connect."),
        ("video", "The canvas, fixed for each broadcast, and its \(VideoCodec.names) encoder."),
        ("audio", "The mix of app and microphone, and its AAC encoder."),
        ("buffer", "The packet log, which all destinations read."),
        ("destinations", "Up to \(Configuration.maxDestinations) \(DestinationURL.kindsInWords)."),
        ("control", "Where upcastctl and health checks connect."),
        ("webhooks", "Up to \(Configuration.maxWebhooks) HTTP servers for events (docs/control.md)."),
        ("log", "Log messages, on standard error."),
        ("memory", "The cap of the memory plan; see upcastd --plan."),
        ("stop", "How a broadcast ends."),
        ("privacy", "Protections, and what viewers see in place of hidden content (docs/privacy.md).")
    ]

    /// The memory cost of most keys.
    static let nothing = ""

    static var keys: [ConfigurationKey<Configuration>] {
        ingest + video + audio + buffer + service + privacy + access
    }

    private static var ingest: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "ingest", "socket", \.ingest.socket, .socketPath,
                "Unix socket for capture clients.", memory: nothing),
            ConfigurationKey(
                "ingest", "socket_mode", \.ingest.socketMode, .fileMode,
                "Permissions of the socket. Write access allows broadcasting.", memory: nothing),
            ConfigurationKey(
                "ingest", "start_timeout_ms", \.ingest.startTimeout, .milliseconds(100...60_000), unit: "ms",
                "Clients that do not send `started` within this time are disconnected.", memory: nothing),
            ConfigurationKey(
                "ingest", "idle_timeout_ms", \.ingest.idleTimeout, .milliseconds(0...86_400_000), unit: "ms",
                "Clients that send nothing for this long, even while paused or on an unchanged screen, are "
                    + "disconnected; 0 disables the timeout.",
                memory: nothing)
        ]
    }

    private static var video: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "video", "width", \.video.width, .integer(16...4096, even: true), unit: "pixels",
                "Width of the canvas.",
                memory: "A canvas takes width x height x 1.5 bytes. The encoder holds several."),
            ConfigurationKey(
                "video", "height", \.video.height, .integer(16...4096, even: true), unit: "pixels",
                "Height of the canvas.", memory: "As width."),
            ConfigurationKey(
                "video", "frame_rate", \.video.frameRate, .frameRate, unit: "frames/s",
                "Maximum frame rate. A screen that changes less often is encoded less often.",
                memory: nothing),
            ConfigurationKey(
                "video", "fit", \.video.fit, .cases(),
                "For pictures with another aspect ratio: fit adds bars, fill crops, stretch distorts.",
                memory: nothing),
            ConfigurationKey(
                "video", "background", \.video.background, .color,
                "Colour of the bars that video.fit adds.", memory: nothing),
            ConfigurationKey(
                "video", "scaler", \.video.scaler, .cases(),
                "Scales and rotates pictures. native is bicubic, optimised for AVX2. libyuv averages areas, which is "
                    + "softer, optimised for SSSE3, AVX2 and NEON. auto selects native on x86 with AVX2. Pictures "
                    + "that shrink by more than 3 (1.5 in 4:2:2 and 4:4:4) always use libyuv. The status shows the "
                    + "choice.",
                memory: "At 720p: native 1.4 MiB, libyuv 1.3 MiB."),
            ConfigurationKey(
                "video", "encoder", \.video.encoder,
                .word("name of an \(VideoCodec.names) encoder of libavcodec", example: "libx264"),
                "Encoder, as listed by ffmpeg -encoders.",
                memory: "The plan assumes libx264 for every encoder."),
            ConfigurationKey(
                "video", "effort", \.video.effort, .cases(),
                "Picture quality against processor time, for libx264 (docs/performance.md). Set either effort or "
                    + "preset.",
                memory: "19 MiB at 720p, 38 at 1080p. If that does not fit, subpixel motion search is off (6.3 and 14 "
                    + "MiB less; upcastd --plan has the cost in bitrate)."),
            ConfigurationKey(
                "video", "adaptive_effort", \.video.adaptiveEffort, .boolean,
                "Lowers the effort while the processor is overloaded, before frames are dropped.",
                memory: nothing),
            ConfigurationKey(
                "video", "preset", \.video.preset,
                .word("preset of the encoder", example: "medium", mayBeEmpty: true),
                "Replaces effort. "
                    + "For libx264: \(X264Preset.names.joined(separator: ", ")). "
                    + "\"\" selects effort, or another encoder's default.",
                memory:
                    "With zerolatency at 720p: ultrafast 12 MiB, superfast and veryfast 19, fast 24, medium 30, "
                    + "slow 40."
            ),
            ConfigurationKey(
                "video", "tune", \.video.tune,
                .word("tune of the encoder", example: "zerolatency", mayBeEmpty: true, extra: ","),
                "An effort allows only zerolatency or \"\" (none). Without zerolatency, libx264 delays frames and the "
                    + "curtain (veryfast by at least 10 frames, medium 40), and encodes unchanged screens at the full "
                    + "frame rate.",
                memory: "Without zerolatency, veryfast takes 48 MiB at 720p."),
            ConfigurationKey(
                "video", "profile", \.video.profile, .cases(),
                "H.264 profile.", memory: nothing),
            ConfigurationKey(
                "video", "threads", \.video.threads, .integer(1...16),
                "Encoder threads. 1 takes a tenth less processor time; 2 delay the slowest frames a third less.",
                memory: "0.4 MiB each with zerolatency; without it, 8.8 MiB at 720p."),
            ConfigurationKey(
                "video", "b_frames", \.video.bFrames, .integer(0...4),
                "Maximum consecutive B-frames. Each adds a frame of delay.",
                memory: "8.9 MiB each at 720p."),
            ConfigurationKey(
                "video", "bitrate_kbps", \.video.bitrate, .kilobits(100...50_000), unit: "kbit/s",
                "Video bitrate.",
                memory: nothing),
            ConfigurationKey(
                "video", "adaptive", \.video.adaptive, .boolean,
                "Adapts the bitrate, up to bitrate_kbps, to the slowest link. Needs libx264 or h264_nvenc; other "
                    + "encoders keep their bitrate, and late packets are dropped.",
                memory: nothing),
            ConfigurationKey(
                "video", "min_bitrate_kbps", \.video.minBitrate, .kilobits(50...50_000), unit: "kbit/s",
                "Minimum of the adaptive bitrate. Slower links reduce the frame rate, down to a quarter.",
                memory: nothing),
            ConfigurationKey(
                "video", "vbv_ms", \.video.vbv, .milliseconds(100...10_000), unit: "ms",
                "Rate control buffer (ffmpeg: bufsize), as time at bitrate_kbps.", memory: nothing),
            ConfigurationKey(
                "video", "keyframe_interval_ms", \.video.keyframeInterval, .milliseconds(250...20_000), unit: "ms",
                "Maximum time between keyframes. Most platforms require 2000.", memory: nothing),
            ConfigurationKey(
                "video", "color_matrix", \.video.colorMatrix, .named([("bt709", .bt709), ("bt601", .bt601)]),
                "Colour matrix, signalled in the stream.", memory: nothing),
            ConfigurationKey(
                "video", "color_range", \.video.colorRange, .named([("video", .video), ("full", .full)]),
                "Colour range, signalled in the stream. Many players ignore full.",
                memory: nothing),
            ConfigurationKey(
                "video", "idle_repeat_ms", \.video.idleRepeat, .milliseconds(20...5000), unit: "ms",
                "Interval at which an unchanged screen is encoded again, against server timeouts.",
                memory: nothing),
            ConfigurationKey(
                "video", "skip_unchanged", \.video.skipsUnchanged, .boolean,
                "Encodes pictures that have not changed for half a second only every idle_repeat_ms.",
                memory: nothing),
            ConfigurationKey(
                "video", "encoder_options", \.video.encoderOptions, .options,
                "Private options of the encoder, such as aq-mode: \"0\". To set one that effort controls, set preset.",
                memory: "The plan includes rc-lookahead, ref, bframes and subme of libx264.")
        ]
    }

    private static var audio: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "audio", "sample_rate", \.audio.sampleRate, .choice([48_000, 44_100]), unit: "Hz",
                "Encoded sample rate.",
                memory: "A second of PCM takes sample_rate x channels x 4 bytes."),
            ConfigurationKey(
                "audio", "channels", \.audio.channels, .choice([1, 2]),
                "Encoded channels.",
                memory: "As sample_rate."),
            ConfigurationKey(
                "audio", "bitrate_kbps", \.audio.bitrate, .kilobits(32...320), unit: "kbit/s",
                "AAC bitrate.", memory: nothing),
            ConfigurationKey(
                "audio", "app_gain_db", \.audio.appGainDecibels, .decibels(-60...24), unit: "dB",
                "App audio gain.", memory: nothing),
            ConfigurationKey(
                "audio", "microphone_gain_db", \.audio.microphoneGainDecibels, .decibels(-60...24), unit: "dB",
                "Microphone gain.", memory: nothing),
            ConfigurationKey(
                "audio", "limiter_ceiling_db", \.audio.limiterCeilingDecibels, .decibels(-20...0), unit: "dBFS",
                "Maximum level of the mix, kept by a limiter.", memory: nothing),
            ConfigurationKey(
                "audio", "min_latency_ms", \.audio.minLatency, .milliseconds(10...2000), unit: "ms",
                "How long the mixer waits for late audio.",
                memory: nothing),
            ConfigurationKey(
                "audio", "max_latency_ms", \.audio.maxLatency, .milliseconds(50...5000), unit: "ms",
                "Maximum audio that the mixer holds per track. Longer bursts lose their oldest samples.",
                memory: "0.6 MiB for both tracks at the defaults. A queue takes a fixed 1 MiB.")
        ]
    }

    private static var buffer: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "buffer", "duration_ms", \.buffer.duration, .milliseconds(500...60_000), unit: "ms",
                "Maximum duration of the packet log.", memory: nothing),
            ConfigurationKey(
                "buffer", "max_bytes", \.buffer.maxBytes, .bytes(BufferConfiguration.leastBytes...256 << 20),
                "Maximum size of the packet log.",
                memory: "Allocated when a broadcast starts."),
            ConfigurationKey(
                "buffer", "delay_ms", \.buffer.delay, .milliseconds(0...60_000), unit: "ms",
                "Delay of the broadcast, which the packet log holds besides duration_ms.",
                memory: "max_bytes must hold it: 320 KiB/s at the default bitrates."),
            ConfigurationKey(
                "buffer", "drop_disposable_ms", \.buffer.dropDisposable, .milliseconds(50...60_000), unit: "ms",
                "A destination this far behind skips frames that no other frame references.", memory: nothing),
            ConfigurationKey(
                "buffer", "drop_to_keyframe_ms", \.buffer.dropToKeyframe, .milliseconds(50...60_000), unit: "ms",
                "A destination this far behind skips to a new keyframe.", memory: nothing),
            ConfigurationKey(
                "buffer", "interleave", \.buffer.interleave, .cases(),
                "strict sends audio and video by timestamp; low_latency sends them as encoded, audio about 85 ms late.",
                memory: nothing)
        ]
    }

    private static var service: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "control", "socket", \.control.socket, .socketPath,
                "Unix socket for upcastctl.", memory: nothing),
            ConfigurationKey(
                "control", "socket_mode", \.control.socketMode, .fileMode,
                "Permissions of the socket. Write access allows connecting.", memory: nothing),
            ConfigurationKey(
                "control", "operators", \.control.operators, .roleMembers,
                "Who may do everything at the control socket, besides root and the daemon's user. If operators, "
                    + "clients and apps are all empty, everyone who can connect may.",
                memory: nothing),
            ConfigurationKey(
                "control", "clients", \.control.clients, .roleMembers,
                "Capture clients. They may read the status and hide content.", memory: nothing),
            ConfigurationKey(
                "control", "apps", \.control.apps, .roleMembers,
                "Captured apps. They may only hide content and read the capture state (GET /state).",
                memory: nothing),
            ConfigurationKey(
                "control", "listen", \.control.listen, .listenAddress,
                "Unencrypted TCP address of the control server and status page; \"\" disables it. For other machines, "
                    + "use a TLS proxy.",
                memory: nothing),
            ConfigurationKey(
                "control", "token_file", \.control.tokenFile, .optionalPath,
                "File with the token of TCP clients (Authorization: Bearer). Required with control.listen.",
                memory: nothing),
            ConfigurationKey(
                "control", "snapshot_size", \.control.snapshotSize, .integer(0...1280, even: true), unit: "pixels",
                "Longer side of snapshots; 0 disables them.",
                memory: "About 10 bytes a pixel while clients request snapshots."),
            ConfigurationKey(
                "log", "level", \.log.level, .cases(),
                "Minimum level of messages.", memory: nothing),
            ConfigurationKey(
                "log", "format", \.log.format, .cases(),
                "auto writes text, but entries with fields to the systemd journal (journalctl "
                    + "EVENT=destination_failed). text always writes text; json writes one object per line.",
                memory: nothing),
            ConfigurationKey(
                "memory", "cap_bytes", \.memory.capBytes, .bytes(16 << 20...4 << 30),
                "Limit of the memory plan. Set it to the value of MemoryMax= or --memory.",
                memory: nothing),
            ConfigurationKey(
                "stop", "drain_ms", \.stop.drain, .milliseconds(0...60_000), unit: "ms",
                "Time to send queued packets when a broadcast ends, plus buffer.delay_ms.",
                memory: nothing)
        ]
    }
}
