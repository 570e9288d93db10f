internal import MediaCore

/// All keys, in the order of the shipped file.
///
/// The table is built at each use, because a daemon needs it only while it loads a configuration.
enum ConfigurationTable {
    static let sections: [(name: String, summary: String)] = [
        ("ingest", "Where capture clients connect."),
        ("video", "The canvas, fixed for the life of a broadcast, and its \(VideoCodec.names) encoder."),
        ("audio", "The mix of app and microphone, and its AAC encoder."),
        (
            "buffer",
            "The packet log: encoded packets between the encoders and the destinations. All destinations read it."
        ),
        (
            "destinations",
            "Where the broadcast is published: up to \(Configuration.maxDestinations) \(DestinationURL.kindsInWords)."
        ),
        ("control", "Where upcastctl and health checks connect."),
        (
            "webhooks",
            "Where events are posted: up to \(Configuration.maxWebhooks) HTTP servers. docs/control.md has the format."
        ),
        ("log", "Log messages, on standard error."),
        ("memory", "The memory cap. The memory plan must fit under it; see upcastd --plan."),
        ("stop", "How a broadcast ends."),
        ("privacy", "What is hidden from viewers, and what they see instead. docs/privacy.md states the guarantees.")
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
                "Unix socket that capture clients connect to.", memory: nothing),
            ConfigurationKey(
                "ingest", "socket_mode", \.ingest.socketMode, .fileMode,
                "Permissions of the socket. Everyone who may write to it may broadcast.", memory: nothing),
            ConfigurationKey(
                "ingest", "start_timeout_ms", \.ingest.startTimeout, .milliseconds(100...60_000), unit: "ms",
                "Clients that do not send `started` within this time are disconnected.", memory: nothing),
            ConfigurationKey(
                "ingest", "idle_timeout_ms", \.ingest.idleTimeout, .milliseconds(0...86_400_000), unit: "ms",
                "Clients that send nothing for this long are disconnected; 0 disables the timeout. Paused clients and "
                    + "unchanged screens send nothing. The daemon notices a closed connection without this key.",
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
                "The maximum frame rate. A screen that changes less often is encoded less often.",
                memory: nothing),
            ConfigurationKey(
                "video", "fit", \.video.fit, .cases(),
                "How a picture with another aspect ratio is placed: fit adds bars, fill crops, stretch distorts.",
                memory: nothing),
            ConfigurationKey(
                "video", "background", \.video.background, .color,
                "Colour of the bars that video.fit adds.", memory: nothing),
            ConfigurationKey(
                "video", "scaler", \.video.scaler, .cases(),
                "The code that scales and rotates pictures. native is bicubic, and is optimised for AVX2. libyuv "
                    + "averages areas, which is softer, and is optimised for SSSE3, AVX2 and NEON. auto selects native "
                    + "on x86 with AVX2. Pictures that shrink by more than 3 (by more than 1.5 in 4:2:2 and 4:4:4) are "
                    + "always scaled by libyuv. The status shows the choice.",
                memory: "native: 1.4 MiB at 720p, libyuv 1.3 MiB."),
            ConfigurationKey(
                "video", "encoder", \.video.encoder,
                .word("name of an \(VideoCodec.names) encoder of libavcodec", example: "libx264"),
                "The encoder. ffmpeg -encoders lists the encoders of the system's libavcodec.",
                memory: "The plan assumes the needs of libx264 for every encoder."),
            ConfigurationKey(
                "video", "effort", \.video.effort, .cases(),
                "Picture quality against processor time, for libx264: measured settings (docs/performance.md). Set "
                    + "effort or preset, not both.",
                memory:
                    "19 MiB at 720p, 38 at 1080p. If that does not fit, the encoder runs without subpixel motion "
                    + "search (6.3 and 14 MiB less); upcastd --plan and the log state the cost in bitrate."),
            ConfigurationKey(
                "video", "adaptive_effort", \.video.adaptiveEffort, .boolean,
                "Lowers the effort when the processor is overloaded, before frames are dropped, and raises it again "
                    + "later.",
                memory: nothing),
            ConfigurationKey(
                "video", "preset", \.video.preset,
                .word("preset of the encoder", example: "medium", mayBeEmpty: true),
                "A preset of the encoder, in place of effort. "
                    + "For libx264: \(X264Preset.names.joined(separator: ", ")). "
                    + "\"\" selects effort, or the default of another encoder.",
                memory:
                    "With zerolatency at 720p: ultrafast 12 MiB, superfast and veryfast 19, fast 24, medium 30, "
                    + "slow 40."
            ),
            ConfigurationKey(
                "video", "tune", \.video.tune,
                .word("tune of the encoder", example: "zerolatency", mayBeEmpty: true, extra: ","),
                "Tunes of the encoder. An effort allows only zerolatency or \"\" (none). Without zerolatency, libx264 "
                    + "delays frames (veryfast 10 or more, medium 40 or more). This delays the curtain as well, and an "
                    + "unchanged screen is encoded at the full frame rate.",
                memory: "Without zerolatency libx264 looks ahead: veryfast takes 48 MiB at 720p instead of 19."),
            ConfigurationKey(
                "video", "profile", \.video.profile, .cases(),
                "H.264 profile. Players must support it.", memory: nothing),
            ConfigurationKey(
                "video", "threads", \.video.threads, .integer(1...16),
                "Encoder threads. 1 thread needs a tenth less processor time; 2 threads reduce the delay of the "
                    + "slowest frames by a third.",
                memory: "0.4 MiB a thread with zerolatency; without it 8.8 MiB a thread at 720p."),
            ConfigurationKey(
                "video", "b_frames", \.video.bFrames, .integer(0...4),
                "Maximum number of consecutive B-frames. Each adds one frame of delay.",
                memory: "8.9 MiB each at 720p."),
            ConfigurationKey(
                "video", "bitrate_kbps", \.video.bitrate, .kilobits(100...50_000), unit: "kbit/s",
                "Video bitrate.",
                memory: "Together with buffer.duration_ms it fills buffer.max_bytes."),
            ConfigurationKey(
                "video", "adaptive", \.video.adaptive, .boolean,
                "Adapts the bitrate to the slowest link. bitrate_kbps is the maximum. Needs libx264 or h264_nvenc: "
                    + "other encoders keep their bitrate, and packets that are too late for a slow link are dropped.",
                memory: nothing),
            ConfigurationKey(
                "video", "min_bitrate_kbps", \.video.minBitrate, .kilobits(50...50_000), unit: "kbit/s",
                "The minimum of the adaptive bitrate. If a link carries less, the frame rate is reduced to as little "
                    + "as a quarter.",
                memory: nothing),
            ConfigurationKey(
                "video", "vbv_ms", \.video.vbv, .milliseconds(100...10_000), unit: "ms",
                "Rate control buffer (bufsize of ffmpeg), as time at bitrate_kbps.", memory: nothing),
            ConfigurationKey(
                "video", "keyframe_interval_ms", \.video.keyframeInterval, .milliseconds(250...20_000), unit: "ms",
                "Maximum time between keyframes. Most platforms require 2000.", memory: nothing),
            ConfigurationKey(
                "video", "color_matrix", \.video.colorMatrix, .named([("bt709", .bt709), ("bt601", .bt601)]),
                "Colour matrix of the canvas. The stream signals it to players.", memory: nothing),
            ConfigurationKey(
                "video", "color_range", \.video.colorRange, .named([("video", .video), ("full", .full)]),
                "Colour range of the canvas. The stream signals it to players; many players ignore full.",
                memory: nothing),
            ConfigurationKey(
                "video", "idle_repeat_ms", \.video.idleRepeat, .milliseconds(20...5000), unit: "ms",
                "Interval at which an unchanged screen is encoded again. It keeps servers from timing out.",
                memory: nothing),
            ConfigurationKey(
                "video", "skip_unchanged", \.video.skipsUnchanged, .boolean,
                "Encodes pictures that have not changed for half a second only every idle_repeat_ms.",
                memory: nothing),
            ConfigurationKey(
                "video", "encoder_options", \.video.encoderOptions, .options,
                "Private options of the encoder by name, such as aq-mode: \"0\". The environment variable has the form "
                    + "name=value:name=value. To set an option that effort controls, set preset.",
                memory: "The plan includes rc-lookahead, ref, bframes and subme of libx264.")
        ]
    }

    private static var audio: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "audio", "sample_rate", \.audio.sampleRate, .choice([48_000, 44_100]), unit: "Hz",
                "Sample rate of the encoded audio.", memory: "A second of PCM takes sample_rate x channels x 4 bytes."),
            ConfigurationKey(
                "audio", "channels", \.audio.channels, .choice([1, 2]),
                "Channels of the encoded audio.", memory: "As sample_rate."),
            ConfigurationKey(
                "audio", "bitrate_kbps", \.audio.bitrate, .kilobits(32...320), unit: "kbit/s",
                "AAC bitrate.", memory: nothing),
            ConfigurationKey(
                "audio", "app_gain_db", \.audio.appGainDecibels, .decibels(-60...24), unit: "dB",
                "Gain of the app's sound.", memory: nothing),
            ConfigurationKey(
                "audio", "microphone_gain_db", \.audio.microphoneGainDecibels, .decibels(-60...24), unit: "dB",
                "Gain of the microphone.", memory: nothing),
            ConfigurationKey(
                "audio", "limiter_ceiling_db", \.audio.limiterCeilingDecibels, .decibels(-20...0), unit: "dBFS",
                "Ceiling of the limiter. No sample of the mix is louder.", memory: nothing),
            ConfigurationKey(
                "audio", "min_latency_ms", \.audio.minLatency, .milliseconds(10...2000), unit: "ms",
                "How long the mixer waits for late audio. A wait of up to 150 ms ends early if no audio is missing.",
                memory: "Included in max_latency_ms."),
            ConfigurationKey(
                "audio", "max_latency_ms", \.audio.maxLatency, .milliseconds(50...5000), unit: "ms",
                "The most audio that the mixer holds per track. It drops the oldest samples of a longer burst.",
                memory: "The mixer holds this much app audio and microphone: 0.6 MiB at the defaults. The queue before "
                    + "it has a fixed size of 1 MiB.")
        ]
    }

    private static var buffer: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "buffer", "duration_ms", \.buffer.duration, .milliseconds(500...60_000), unit: "ms",
                "Maximum duration of the packet log.", memory: "Up to max_bytes."),
            ConfigurationKey(
                "buffer", "max_bytes", \.buffer.maxBytes, .bytes(BufferConfiguration.leastBytes...256 << 20),
                "Maximum size of the packet log.", memory: "This many bytes, allocated when a broadcast starts."),
            ConfigurationKey(
                "buffer", "delay_ms", \.buffer.delay, .milliseconds(0...60_000), unit: "ms",
                "Delay of the broadcast. The packet log holds this time in addition to duration_ms.",
                memory: "max_bytes must hold it: 320 KiB a second at the default bitrates."),
            ConfigurationKey(
                "buffer", "drop_disposable_ms", \.buffer.dropDisposable, .milliseconds(50...60_000), unit: "ms",
                "A destination that is this far behind skips frames that no other frame references.", memory: nothing),
            ConfigurationKey(
                "buffer", "drop_to_keyframe_ms", \.buffer.dropToKeyframe, .milliseconds(50...60_000), unit: "ms",
                "A destination that is this far behind skips to a new keyframe.", memory: nothing),
            ConfigurationKey(
                "buffer", "interleave", \.buffer.interleave, .cases(),
                "Order of audio and video. strict sends packets by timestamp, as ffmpeg and OBS do. low_latency sends "
                    + "video at once, and the audio of the same time about 85 ms later.",
                memory: nothing)
        ]
    }

    private static var service: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "control", "socket", \.control.socket, .socketPath,
                "Unix socket that upcastctl connects to.", memory: nothing),
            ConfigurationKey(
                "control", "socket_mode", \.control.socketMode, .fileMode,
                "Permissions of the socket. Everyone who may write to it may connect.", memory: nothing),
            ConfigurationKey(
                "control", "operators", \.control.operators, .roleMembers,
                "Who may do everything at the control socket, in addition to root and the daemon's user. If operators, "
                    + "clients and apps are all empty, everyone who can connect may do everything.",
                memory: nothing),
            ConfigurationKey(
                "control", "clients", \.control.clients, .roleMembers,
                "Capture clients. They may read the status and hide content.", memory: nothing),
            ConfigurationKey(
                "control", "apps", \.control.apps, .roleMembers,
                "Captured apps. They may hide content and read the capture state (GET /state), and nothing else.",
                memory: nothing),
            ConfigurationKey(
                "control", "listen", \.control.listen, .listenAddress,
                "TCP address of the control server and the status page; \"\" disables it. The connection is not "
                    + "encrypted: for access from other machines, use a TLS proxy.",
                memory: nothing),
            ConfigurationKey(
                "control", "token_file", \.control.tokenFile, .optionalPath,
                "File with the token of TCP clients (Authorization: Bearer). Required with control.listen.",
                memory: nothing),
            ConfigurationKey(
                "control", "snapshot_size", \.control.snapshotSize, .integer(0...1280, even: true), unit: "pixels",
                "Longer side of the snapshots that upcastctl and the status page show; 0 disables snapshots.",
                memory: "About 10 bytes a pixel while a client requests snapshots."),
            ConfigurationKey(
                "log", "level", \.log.level, .cases(), "Messages below this level are not written.", memory: nothing),
            ConfigurationKey(
                "log", "format", \.log.format, .cases(),
                "auto is text for people, and under systemd the journal's own protocol: journalctl DESTINATION=main, "
                    + "EVENT=destination_failed. text writes text in each case; json writes one object per line.",
                memory: nothing),
            ConfigurationKey(
                "memory", "cap_bytes", \.memory.capBytes, .bytes(16 << 20...4 << 30),
                "The daemon refuses a configuration whose memory plan is larger. Set it to the value of MemoryMax= or "
                    + "--memory.",
                memory: "It is the limit."),
            ConfigurationKey(
                "stop", "drain_ms", \.stop.drain, .milliseconds(0...60_000), unit: "ms",
                "When a broadcast ends, destinations have this long to send queued packets, plus buffer.delay_ms.",
                memory: nothing)
        ]
    }
}
