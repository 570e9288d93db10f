internal import Endpoints
internal import MediaCore
internal import Wording

extension ConfigurationLoader {
    /// Checks the rules between keys. Refused values have their defaults here.
    mutating func checkTogether() {
        let (video, audio, buffer) = (configuration.video, configuration.audio, configuration.buffer)

        if audio.minLatency > audio.maxLatency {
            conflict(
                ["audio.min_latency_ms", "audio.max_latency_ms"],
                "min_latency_ms \(audio.minLatency.milliseconds) is more than max_latency_ms "
                    + "\(audio.maxLatency.milliseconds)",
                "max_latency_ms must be at least min_latency_ms")
        }
        if !(buffer.dropDisposable < buffer.dropToKeyframe && buffer.dropToKeyframe < buffer.duration) {
            conflict(
                ["buffer.drop_disposable_ms", "buffer.drop_to_keyframe_ms", "buffer.duration_ms"],
                "drop_disposable_ms \(buffer.dropDisposable.milliseconds), drop_to_keyframe_ms "
                    + "\(buffer.dropToKeyframe.milliseconds) and duration_ms \(buffer.duration.milliseconds) "
                    + "are not in ascending order",
                "each value must be greater than the previous one")
        }
        let least = configuration.leastLogBytes
        if buffer.maxBytes < least {
            conflict(
                [
                    "buffer.delay_ms", "buffer.max_bytes", "video.bitrate_kbps", "buffer.drop_to_keyframe_ms",
                    "video.vbv_ms",
                ],
                "\(buffer.maxBytes) bytes cannot hold \(buffer.delay > .zero ? "buffer.delay_ms, " : "")"
                    + "buffer.drop_to_keyframe_ms and video.vbv_ms together at "
                    + "\((video.bitrate + audio.bitrate) / 1000) kbit/s",
                "set buffer.max_bytes to at least \((least + 1023) / 1024)KiB")
        }
        if video.adaptive, video.minBitrate > video.bitrate {
            conflict(
                ["video.min_bitrate_kbps", "video.bitrate_kbps"],
                "min_bitrate_kbps \(video.minBitrate / 1000) is more than bitrate_kbps \(video.bitrate / 1000)",
                "min_bitrate_kbps must not exceed bitrate_kbps")
        }
        checkEffort()
        if video.encoder == "libx264" {
            let presets = X264Preset.names
            if !video.preset.isEmpty, !presets.contains(video.preset) {
                conflict(
                    ["video.preset"], "libx264 has no preset \"\(video.preset)\"",
                    didYouMean(video.preset, presets) ?? "write one of \(presets.joined(separator: ", "))")
            }
            let tunes = X264Preset.tunes
            for tune in video.tune.split(separator: ",").map(String.init) where !tunes.contains(tune) {
                conflict(
                    ["video.tune"], "libx264 has no tune \"\(tune)\"",
                    didYouMean(tune, tunes) ?? "write one of \(tunes.joined(separator: ", ")), or \"\" for none")
            }
        }
        if video.bFrames > 0, video.profile == .baseline {
            conflict(
                ["video.b_frames", "video.profile"], "profile baseline has no B-frames",
                "set video.b_frames to 0 or video.profile to main or high")
        }
        if configuration.ingest.socket == configuration.control.socket {
            conflict(
                ["control.socket", "ingest.socket"], "ingest.socket and control.socket are the same path",
                "give each socket its own path")
        }
        if configuration.privacy.curtainStyle == .picture, configuration.privacy.curtainPicture == nil {
            conflict(
                ["privacy.curtain_style"], "curtain_style picture requires a picture",
                "name a PNG or JPEG file in privacy.curtain_picture")
        }
        for index in configuration.destinations.indices { checkDestination(index) }
        for index in configuration.webhooks.indices { checkWebhook(index) }
    }

    /// Checks that effort, preset and encoder options do not conflict.
    private mutating func checkEffort() {
        let video = configuration.video
        if let place = origins["video.effort"] {
            // A key from the environment overrides a conflicting key from the file.
            func wins(_ key: String) -> Bool {
                if case .file = place, case .environment = origins[key] { true } else { false }
            }
            if video.encoder != "libx264" {
                if !wins("video.encoder") {
                    conflict(
                        ["video.effort"], "video.effort applies to libx264 only, not to \(video.encoder)",
                        "remove video.effort, or set video.preset to a preset of \(video.encoder)")
                }
            } else if !video.preset.isEmpty, !wins("video.preset") {
                conflict(
                    ["video.preset", "video.effort"], "effort and preset are both set",
                    "remove one of them")
            }
        }
        guard let effort = video.encoderEffort else { return }
        for tune in video.tune.split(separator: ",").map(String.init)
        where tune != "zerolatency" && X264Preset.tunes.contains(tune) {
            conflict(
                ["video.tune"], "tune \(tune) conflicts with video.effort \(effort.rawValue)",
                "set video.preset to use this tune, or set video.tune to zerolatency")
        }
        for (name, value) in video.encoderOptions.sorted(by: { $0.key < $1.key }) {
            for option in X264Option.all(in: name, value) where Self.isDecidedByEffort(option) {
                conflict(
                    ["video.encoder_options"],
                    "option \(option.name) conflicts with video.effort \(effort.rawValue)",
                    "set video.preset to use this option, or remove it")
            }
        }
    }

    /// All names of these options in libavcodec and x264. x264 accepts a `no` prefix on switches.
    private static let effortOptions: Set = [
        "preset", "tune", "subq", "subme", "me", "me-method", "motion-est", "me-range", "merange", "partitions",
        "analyse", "8x8dct", "8x8", "refs", "ref", "frameref", "mixed-refs", "trellis", "cabac", "coder", "weightp",
        "wpredp", "aq-mode", "aq-strength", "psy", "psy-rd", "deblock", "filter", "nf", "chroma-me", "cmp",
        "fast-pskip", "dct-decimate", "deadzone-inter", "deadzone-intra", "qcomp", "ipratio", "ip-factor",
        "i-qfactor", "lookahead-threads", "sliced-threads", "slices",
    ]

    private static func isDecidedByEffort(_ option: X264Option) -> Bool {
        let name = option.canonicalName
        return ["", "no", "no-"].contains {
            name.hasPrefix($0) && effortOptions.contains(String(name.dropFirst($0.count)))
        }
    }

    private mutating func checkDestination(_ index: Int) {
        let destination = configuration.destinations[index]
        let path = "destinations[\(index)]"
        if destination.reconnectFirst > destination.reconnectLongest {
            conflict(
                ["\(path).reconnect_first_ms", "\(path).reconnect_longest_ms"],
                "reconnect_first_ms \(destination.reconnectFirst.milliseconds) is more than reconnect_longest_ms "
                    + "\(destination.reconnectLongest.milliseconds)",
                "reconnect_longest_ms must be at least reconnect_first_ms")
        }
        let earlier = configuration.destinations[..<index]
        if destination.url == .none {
            // A refused URL is already reported.
            if origins["\(path).url"] == nil {
                conflict([path], "there is no url", "set one such as rtmp://host/app")
            }
        }
        for found in destination.conflictsOfKind {
            conflict(found.keys.map { "\(path).\($0)" }, found.what, found.remedy)
        }
        if destination.keyFile != nil, destination.keyEnvironment != nil {
            conflict(
                ["\(path).key_env", "\(path).key_file"], "key_file and key_env are both set", "remove one of the two")
        }
        if destination.loginFile != nil, destination.loginEnvironment != nil {
            conflict(
                ["\(path).login_env", "\(path).login_file"], "login_file and login_env are both set",
                "remove one of the two")
        }
        for (name, secret, file, variable) in [
            ("key", destination.key, destination.keyFile, destination.keyEnvironment),
            ("login", destination.loginText, destination.loginFile, destination.loginEnvironment),
        ] where secret != nil && (file != nil || variable != nil) {
            conflict(["\(path).\(name)"], "\(name) and \(name)_file are both set", "remove one of the two")
        }
        // A refused name has the default, which is not a duplicate.
        let isNamed = !problems.contains { $0.key == "\(path).name" }
        if isNamed, let other = earlier.firstIndex(where: { $0.name == destination.name }) {
            conflict(
                ["\(path).name", path], "\"\(destination.name)\" is already the name of destination \(other)",
                "give each destination a unique name")
        }
        if destination.url != .none,
            let other = earlier.firstIndex(where: {
                ($0.url, $0.keyFile, $0.keyEnvironment, $0.key) == (
                    destination.url, destination.keyFile, destination.keyEnvironment, destination.key
                )
            })
        {
            conflict(
                ["\(path).url"], "destination \(other) publishes to the same place", "remove one of the two")
        }
    }

    private mutating func checkWebhook(_ index: Int) {
        let webhook = configuration.webhooks[index]
        let path = "webhooks[\(index)]"
        // What is no mapping, and refused values, are already reported.
        guard !problems.contains(where: { $0.key == path }) else { return }
        let hasRefusedSecret = problems.contains { $0.key.hasPrefix("\(path).secret_") }
        if webhook.url == nil, !problems.contains(where: { $0.key == "\(path).url" }) {
            conflict([path], "there is no url", "set one such as https://host/path")
        }
        switch (webhook.secretFile, webhook.secretEnvironment) {
        case (nil, nil) where hasRefusedSecret: break
        case (nil, nil):
            conflict(
                ["\(path).secret_file", "\(path).secret_env", path], "there is no secret to sign deliveries with",
                "write one to a file (echo whsec_$(openssl rand -base64 32)), and name the file in secret_file")
        case (.some, .some):
            conflict(
                ["\(path).secret_env", "\(path).secret_file"], "secret_file and secret_env are both set",
                "remove one of the two")
        default: break
        }
        if let url = webhook.url, !url.isSecure, webhook.caFile != nil {
            conflict(["\(path).ca_file"], "http:// does not use certificates", "use https:// or remove ca_file")
        }
        let isNamed = !problems.contains { $0.key == "\(path).name" }
        if isNamed, let other = configuration.webhooks[..<index].firstIndex(where: { $0.name == webhook.name }) {
            conflict(
                ["\(path).name", path], "\"\(webhook.name)\" is already the name of webhook \(other)",
                "give each webhook a unique name")
        }
    }

    /// Reports a conflict at the first of `keys` that is not a default.
    private mutating func conflict(_ keys: [String], _ what: String, _ remedy: String) {
        let culprit = keys.first { origins[$0] != nil } ?? keys[0]
        report(origins[culprit] ?? .defaults, culprit, what, remedy)
    }
}
