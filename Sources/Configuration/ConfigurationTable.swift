internal import MediaCore

/// Every key there is, in the order of the shipped file.
///
/// Built anew at each use: a daemon needs it once, and keeps nothing of it.
enum ConfigurationTable {
    static let sections: [(name: String, summary: String)] = [
        ("ingest", "Where capture clients connect."),
        ("video", "The canvas, fixed for the life of a broadcast, and its \(VideoCodec.names) encoder."),
        ("audio", "The mix of app and microphone, and its AAC encoder."),
        ("buffer", "Encoded packets between the encoders and the destinations: one log, which all destinations read."),
        ("destinations", "Where the broadcast goes: up to \(Configuration.maxDestinations) \(DestinationURL.kinds)."),
        ("control", "Where upcastctl and health checks connect."),
        ("log", "What the daemon says, on standard error."),
        ("memory", "The cap that the plan must fit under; see upcastd --plan."),
        ("stop", "How a broadcast ends."),
        ("privacy", "What viewers get in place of what is private. docs/privacy.md says what is promised.")
    ]

    private static let nothing = "none."

    static var keys: [ConfigurationKey<Configuration>] {
        ingest + video + audio + buffer + service + access
    }

    private static var ingest: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "ingest", "socket", \.ingest.socket, .socketPath,
                "Unix socket that capture clients connect to.", memory: nothing),
            ConfigurationKey(
                "ingest", "socket_mode", \.ingest.socketMode, .fileMode,
                "Permissions of that socket: who may broadcast.", memory: nothing),
            ConfigurationKey(
                "ingest", "start_timeout_ms", \.ingest.startTimeout, .milliseconds(100...60_000), unit: "ms",
                "Clients that do not send `started` within this time are disconnected.", memory: nothing),
            ConfigurationKey(
                "ingest", "idle_timeout_ms", \.ingest.idleTimeout, .milliseconds(0...86_400_000), unit: "ms",
                "Clients that send nothing for this long are disconnected; 0 never does. Paused clients and screens "
                    + "that do not change are silent, and a client that is gone is noticed without this.",
                memory: nothing)
        ]
    }

    private static var video: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "video", "width", \.video.width, .integer(16...4096, even: true), unit: "pixels",
                "Width of the canvas.",
                memory: "Every canvas takes width x height x 1.5 bytes, and the encoder holds several."),
            ConfigurationKey(
                "video", "height", \.video.height, .integer(16...4096, even: true), unit: "pixels",
                "Height of the canvas.", memory: "As width."),
            ConfigurationKey(
                "video", "frame_rate", \.video.frameRate, .frameRate, unit: "frames/s",
                "The most frames that are encoded in a second; a screen that changes less sends less.",
                memory: nothing),
            ConfigurationKey(
                "video", "fit", \.video.fit, .cases(),
                "How a picture of another shape is placed: fit adds bars, fill crops, stretch distorts.",
                memory: nothing),
            ConfigurationKey(
                "video", "background", \.video.background, .color,
                "Colour of the bars that fit adds.", memory: nothing),
            ConfigurationKey(
                "video", "scaler", \.video.scaler, .cases(),
                "What scales and turns pictures: native has code for AVX2, libyuv for SSSE3, AVX2 and NEON. auto takes "
                    + "the faster one for each size on this processor; the status shows which.",
                memory: "native: 1.3 MB at 720p, libyuv a little less."),
            ConfigurationKey(
                "video", "encoder", \.video.encoder,
                .word("name of an \(VideoCodec.names) encoder in libavcodec", example: "libx264"),
                "The encoder; see ffmpeg -encoders for what the system's libavcodec has.",
                memory: "The plan knows libx264; others are planned for as if they were."),
            ConfigurationKey(
                "video", "effort", \.video.effort, .cases(),
                "Picture quality against processor time, libx264: measured points (docs/performance.md). Set either "
                    + "effort or preset.",
                memory:
                    "19 MB at 720p, 38 at 1080p. Where that does not fit, subpixel motion is left out (6.4 and 14 MB "
                    + "less), and upcastd --plan and the log tell what that costs."),
            ConfigurationKey(
                "video", "adaptive_effort", \.video.adaptiveEffort, .boolean,
                "Where the processor is short the effort goes down before frames are lost, and comes back later.",
                memory: nothing),
            ConfigurationKey(
                "video", "preset", \.video.preset,
                .word("preset of the encoder", example: "medium", mayBeEmpty: true),
                "The encoder's own preset instead of an effort: for libx264 ultrafast, superfast, veryfast, faster, "
                    + "fast, medium, slow, slower, veryslow; \"\" for effort, and for the default of other encoders.",
                memory:
                    "With zerolatency at 720p: ultrafast 12 MB, superfast and veryfast 19, fast 24, medium 31, slow 41."
            ),
            ConfigurationKey(
                "video", "tune", \.video.tune,
                .word("tune of the encoder", example: "zerolatency", mayBeEmpty: true, extra: ","),
                "With an effort only zerolatency or \"\" (none). Anything but zerolatency (libx264) makes the encoder "
                    + "hold frames back (veryfast 10 and more, medium 40 and more): pictures and the curtain come as "
                    + "much later, and a screen that stands still is encoded at the full rate.",
                memory: "Without zerolatency libx264 looks ahead: veryfast takes 51 MB at 720p instead of 19."),
            ConfigurationKey(
                "video", "profile", \.video.profile, .cases(),
                "H.264 profile that players must support.", memory: nothing),
            ConfigurationKey(
                "video", "threads", \.video.threads, .integer(1...16),
                "Encoder threads. 1 takes a tenth less processor time; "
                    + "2 take a third off what the slowest frames wait.",
                memory: "0.4 MB a thread with zerolatency; without it 9 MB a thread at 720p."),
            ConfigurationKey(
                "video", "b_frames", \.video.bFrames, .integer(0...4),
                "Most B-frames in a row; each adds a frame of delay.", memory: "9 MB each at 720p."),
            ConfigurationKey(
                "video", "bitrate_kbps", \.video.bitrate, .integer(100...50_000, scale: 1000), unit: "kbit/s",
                "Video bitrate asked of the encoder.",
                memory: "Together with buffer.duration_ms it fills buffer.max_bytes."),
            ConfigurationKey(
                "video", "adaptive", \.video.adaptive, .boolean,
                "The bitrate follows what the slowest link carries, and bitrate_kbps is the most that is asked for.",
                memory: nothing),
            ConfigurationKey(
                "video", "min_bitrate_kbps", \.video.minBitrate, .integer(50...50_000, scale: 1000), unit: "kbit/s",
                "Where a link carries less than this, frames are left out instead: down to one in four.",
                memory: nothing),
            ConfigurationKey(
                "video", "vbv_ms", \.video.vbv, .milliseconds(100...10_000), unit: "ms",
                "Buffer of the rate control: how far the bitrate may swing.", memory: nothing),
            ConfigurationKey(
                "video", "keyframe_interval_ms", \.video.keyframeInterval, .milliseconds(250...20_000), unit: "ms",
                "A keyframe at least this often; most platforms ask for 2000.", memory: nothing),
            ConfigurationKey(
                "video", "color_matrix", \.video.colorMatrix, .named([("bt709", .bt709), ("bt601", .bt601)]),
                "Colour matrix of the canvas, also told to players.", memory: nothing),
            ConfigurationKey(
                "video", "color_range", \.video.colorRange, .named([("video", .video), ("full", .full)]),
                "Range of the canvas's samples, also told to players; many players ignore full.", memory: nothing),
            ConfigurationKey(
                "video", "idle_repeat_ms", \.video.idleRepeat, .milliseconds(20...5000), unit: "ms",
                "A screen that does not change is encoded again this often, so that servers do not time out.",
                memory: nothing),
            ConfigurationKey(
                "video", "skip_unchanged", \.video.skipsUnchanged, .boolean,
                "Pictures that have looked the same for half a second are not encoded, "
                    + "but repeated every idle_repeat_ms.",
                memory: nothing),
            ConfigurationKey(
                "video", "encoder_options", \.video.encoderOptions, .options,
                "Private options of the encoder by name, such as aq-mode: \"0\"; in the environment "
                    + "name=value:name=value. Those that an effort decides need a preset instead of it.",
                memory: "Of them the plan counts rc-lookahead, ref, bframes and subme of libx264.")
        ]
    }

    private static var audio: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "audio", "sample_rate", \.audio.sampleRate, .choice([48_000, 44_100]), unit: "Hz",
                "Sample rate of the broadcast.", memory: "A second of PCM takes sample_rate x channels x 4 bytes."),
            ConfigurationKey(
                "audio", "channels", \.audio.channels, .choice([1, 2]),
                "Channels of the broadcast.", memory: "As sample_rate."),
            ConfigurationKey(
                "audio", "bitrate_kbps", \.audio.bitrate, .integer(32...320, scale: 1000), unit: "kbit/s",
                "AAC bitrate.", memory: nothing),
            ConfigurationKey(
                "audio", "app_gain_db", \.audio.appGainDecibels, .decibels(-60...24), unit: "dB",
                "Gain of the app's sound.", memory: nothing),
            ConfigurationKey(
                "audio", "microphone_gain_db", \.audio.microphoneGainDecibels, .decibels(-60...24), unit: "dB",
                "Gain of the microphone.", memory: nothing),
            ConfigurationKey(
                "audio", "limiter_ceiling_db", \.audio.limiterCeilingDecibels, .decibels(-20...0), unit: "dBFS",
                "No sample of the mix is louder than this.", memory: nothing),
            ConfigurationKey(
                "audio", "min_latency_ms", \.audio.minLatency, .milliseconds(10...2000), unit: "ms",
                "The mixer waits this long for sound that is late.", memory: "As max_latency_ms, which bounds it."),
            ConfigurationKey(
                "audio", "max_latency_ms", \.audio.maxLatency, .milliseconds(50...5000), unit: "ms",
                "The longest burst of sound that is kept; older samples go.",
                memory: "The mixer holds this much of app and of microphone: 0.6 MB at the defaults. The queue in "
                    + "front of it is a fixed 1 MiB.")
        ]
    }

    private static var buffer: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "buffer", "duration_ms", \.buffer.duration, .milliseconds(500...60_000), unit: "ms",
                "The most time that the log holds.", memory: "Up to max_bytes."),
            ConfigurationKey(
                "buffer", "max_bytes", \.buffer.maxBytes, .bytes(BufferConfiguration.leastBytes...256 << 20),
                "The most bytes that the log holds.", memory: "This many bytes, allocated when the broadcast begins."),
            ConfigurationKey(
                "buffer", "delay_ms", \.buffer.delay, .milliseconds(0...60_000), unit: "ms",
                "The broadcast is sent this much later than it happens. The log holds it beside duration_ms.",
                memory: "max_bytes must hold it: 328 kB a second at the default bitrates."),
            ConfigurationKey(
                "buffer", "drop_disposable_ms", \.buffer.dropDisposable, .milliseconds(50...60_000), unit: "ms",
                "A destination that is this far behind skips frames that no other frame needs.", memory: nothing),
            ConfigurationKey(
                "buffer", "drop_to_keyframe_ms", \.buffer.dropToKeyframe, .milliseconds(50...60_000), unit: "ms",
                "A destination that is this far behind jumps to a new keyframe.", memory: nothing),
            ConfigurationKey(
                "buffer", "interleave", \.buffer.interleave, .cases(),
                "Order of audio and video: strict sends them by timestamp, as ffmpeg and OBS do; low_latency sends a "
                    + "picture at once, and sound of the same time some 85 ms later.",
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
                "Permissions of that socket: who may look and command.", memory: nothing),
            ConfigurationKey(
                "control", "operators", \.control.operators, .roleMembers,
                "Who may do everything at that socket, beside root and the daemon's own user. With this and the two "
                    + "lists below empty, everybody whom its permissions let in.",
                memory: nothing),
            ConfigurationKey(
                "control", "clients", \.control.clients, .roleMembers,
                "Capture clients: they may look, and hide things.", memory: nothing),
            ConfigurationKey(
                "control", "apps", \.control.apps, .roleMembers,
                "Captured apps: they may hide things, and know whether anything is captured, and no more.",
                memory: nothing),
            ConfigurationKey(
                "control", "listen", \.control.listen, .listenAddress,
                "Where the same is answered over TCP, with the status page; empty for nowhere. Not encrypted: beyond "
                    + "127.0.0.1 put a proxy with TLS before it.",
                memory: nothing),
            ConfigurationKey(
                "control", "token_file", \.control.tokenFile, .optionalPath,
                "File with the token that clients over TCP must show (Authorization: Bearer). Needed with listen.",
                memory: nothing),
            ConfigurationKey(
                "control", "snapshot_size", \.control.snapshotSize, .integer(0...1280, even: true), unit: "pixels",
                "The longer side of the pictures that upcastctl snapshot and the status page show; 0 for none.",
                memory: "About 10 bytes a pixel while they are asked for."),
            ConfigurationKey(
                "log", "level", \.log.level, .cases(), "The least severe message that is written.", memory: nothing),
            ConfigurationKey(
                "log", "format", \.log.format, .cases(), "text for people, json with one object a line.",
                memory: nothing),
            ConfigurationKey(
                "memory", "cap_bytes", \.memory.capBytes, .bytes(16 << 20...4 << 30),
                "A configuration whose plan is larger is refused. Set it to what MemoryMax= or --memory says.",
                memory: "It is the bound, not a cost."),
            ConfigurationKey(
                "stop", "drain_ms", \.stop.drain, .milliseconds(0...60_000), unit: "ms",
                "How long destinations may take to send what is queued when a broadcast ends; buffer.delay_ms comes on "
                    + "top.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "secure_color", \.privacy.secureColor, .color, "Colour of secure regions.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_style", \.privacy.curtainStyle, .cases(),
                "The curtain: one colour, the last picture that was allowed, 16 pixels wide, behind frosted glass, or "
                    + "curtain_picture.",
                memory: "A picture takes width x height x 1.5 bytes."),
            ConfigurationKey(
                "privacy", "curtain_color", \.privacy.curtainColor, .color,
                "Colour of a solid curtain, and of what a picture leaves free.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_text", \.privacy.curtainText,
                .lettering(maxCharacters: PrivacyConfiguration.maxTextCharacters),
                "Text in the middle of the curtain, as large as there is room for it, on any but a picture; \"\" for "
                    + "none. \"\\n\" begins a new line.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_text_color", \.privacy.curtainTextColor, .optionalColor,
                "Colour of that text; \"\" for white or black, whichever stands out.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_picture", \.privacy.curtainPicture, .optionalPath,
                "PNG or JPEG file of the style picture, placed as video.fit says; at most 4 MiB, and 16 MiB when "
                    + "decoded.",
                memory: "Decoding it takes up to 26 MB, before a broadcast takes its own.")
        ] + protections
    }

    private static var protections: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "privacy", "secure_regions", \.privacy.secureRegions, .boolean,
                "Whether what a client's pictures name as secure is painted over; where it is off, such pictures are "
                    + "refused. This and the switches below take effect with a reload; off while somebody relies on it "
                    + "is refused (upcastctl protection).",
                memory: nothing),
            ConfigurationKey(
                "privacy", "standing_regions", \.privacy.standingRegions, .boolean,
                "Whether apps and operators can keep parts of the picture hidden.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain", \.privacy.curtain, .boolean, "Whether the curtain can be raised.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "automatic_curtain", \.privacy.automaticCurtain, .boolean,
                "Whether the daemon raises it by itself: until a broadcast's first picture, for pictures whose regions "
                    + "are not understood, and when the client vanishes.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "take_back", \.privacy.takeBack, .boolean,
                "Whether what was encoded and waits to be sent is thrown away when the curtain is raised.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "take_back_newer_than_ms", \.privacy.takeBackNewerThan, .milliseconds(0...600_000),
                unit: "ms",
                "Of what waits, only what is newer than this is thrown away, and the rest still goes out; 0 for all.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "capture_state", \.privacy.captureState, .boolean,
                "Whether apps are told that something is captured (GET /state); without it they have to assume so.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "audit_file", \.privacy.auditFile, .optionalPath,
                "File that gets a line of JSON for each change of what is hidden: who, what, when, why. Opened anew at "
                    + "each reload; empty for none.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "state_file", \.privacy.stateFile, .optionalPath,
                "File in which holds of the curtain, standing regions and switches outlive the daemon; empty for none.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "consulted_return_ms", \.privacy.consultedReturn, .milliseconds(0...86_400_000),
                unit: "ms",
                "How long after a restart a broadcast waits for the apps that were consulted before it and have not "
                    + "come back; 0 until they come back, or are released by an operator.",
                memory: nothing),
        ]
    }

    static var destinationKeys: [ConfigurationKey<DestinationConfiguration>] {
        [
            ConfigurationKey(
                "destinations", "name", \.name, .word("name", example: "main", maxBytes: 32),
                "What logs, status and metrics call it; no two alike.", memory: nothing),
            ConfigurationKey(
                "destinations", "url", \.url, .destinationURL,
                "Server and application, or file. A stream key may stand in the URL, but is safer in key_file "
                    + "or key_env.",
                memory: "A send buffer for each destination; rtmps:// adds the TLS session."),
            ConfigurationKey(
                "destinations", "key_file", \.keyFile, .optionalPath,
                "File whose first line is the stream key; read at each connect. credential:NAME is one that systemd "
                    + "passes (LoadCredential=NAME:...).", memory: nothing),
            ConfigurationKey(
                "destinations", "key_env", \.keyEnvironment, .optionalVariable,
                "Name of the environment variable that holds the stream key.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_file", \.loginFile, .optionalPath,
                "File, or credential:NAME, whose first line is user:password, for servers that want a login (Adobe, "
                    + "Limelight); it may also stand in the URL.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_env", \.loginEnvironment, .optionalVariable,
                "Name of the environment variable that holds user:password.", memory: nothing),
            ConfigurationKey(
                "destinations", "address_timeout_ms", \.addressTimeout, .milliseconds(100...120_000), unit: "ms",
                "For one of the server's addresses to answer; others are tried meanwhile.", memory: nothing),
            ConfigurationKey(
                "destinations", "connect_timeout_ms", \.connectTimeout, .milliseconds(100...120_000), unit: "ms",
                "For name and TCP, all addresses together.", memory: nothing),
            ConfigurationKey(
                "destinations", "handshake_timeout_ms", \.handshakeTimeout, .milliseconds(100...120_000), unit: "ms",
                "For TLS, the RTMP handshake and everything until the server accepts the stream.", memory: nothing),
            ConfigurationKey(
                "destinations", "send_timeout_ms", \.sendTimeout, .milliseconds(100...120_000), unit: "ms",
                "A server that takes no byte for this long is given up.", memory: nothing),
            ConfigurationKey(
                "destinations", "ack_timeout_ms", \.acknowledgementTimeout, .milliseconds(1000...120_000), unit: "ms",
                "A server that takes bytes but acknowledges none for this long hangs, and is given up.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect", \.reconnect, .boolean,
                "Whether a connection that breaks, or cannot be made, is tried again.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_first_ms", \.reconnectFirst, .milliseconds(50...60_000), unit: "ms",
                "Before the first new attempt; each further one waits 1.6 times as long. Up to half of it is left out "
                    + "by chance.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_longest_ms", \.reconnectLongest, .milliseconds(50...3_600_000), unit: "ms",
                "No attempt waits longer.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_attempts", \.reconnectAttempts, .integer(0...1_000_000),
                "New attempts in a row before the destination is given up; 0 never gives up.", memory: nothing),
            ConfigurationKey(
                "destinations", "adaptive", \.adaptive, .boolean,
                "Whether this link has a say in video.adaptive; files never have.", memory: nothing),
            ConfigurationKey(
                "destinations", "ca_file", \.caFile, .optionalPath,
                "Trusted certificates (PEM) for rtmps:// instead of the system's.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "tls_verify", \.verifyTLS, .boolean,
                "Whether the server must prove who it is; false only for tests on a trusted network.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "allow_redirect", \.allowRedirect, .boolean,
                "Whether the server may send us to another host (Enhanced RTMP); never from TLS to plain TCP.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "refuse_sources", \.refusedSources, .sources,
                "Nothing goes there of a broadcast whose client says that it is one of these, such as \"mirroring, "
                    + "external_playback\".",
                memory: nothing),
            ConfigurationKey(
                "destinations", "chunk_size", \.chunkSize, .integer(128...65_536), unit: "bytes",
                "RTMP chunk size that we send with.", memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_bytes", \.rotateBytes, .bytes(0...1 << 40),
                "A recording goes on in a new file after this many bytes, at a keyframe; 0 for one file.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_after_ms", \.rotateAfter, .milliseconds(0...86_400_000), unit: "ms",
                "A recording goes on in a new file after this long, at a keyframe; 0 for one file.", memory: nothing),
            ConfigurationKey(
                "destinations", "sync", \.sync, .cases(),
                "When a recording is forced to the disk (fsync): never, at-end of each file, or periodic.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "sync_period_ms", \.syncPeriod, .milliseconds(100...3_600_000), unit: "ms",
                "How often with sync periodic; what is younger may be lost with the power.", memory: nothing)
        ]
    }
}
