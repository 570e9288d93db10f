internal import Endpoints
internal import MediaCore

extension MemoryPlan {
    /// Changes that may make a plan fit, each with the changed configuration.
    static func smallerConfigurations(_ configuration: Configuration) -> [(change: String, Configuration)] {
        var found: [(String, Configuration)] = []
        func offer(_ change: String, _ edit: (inout Configuration) -> Void) {
            var smaller = configuration
            edit(&smaller)
            if smaller != configuration { found.append((change, smaller)) }
        }

        let video = configuration.video
        if video.encoder == "libx264" {
            let current = X264Preset(rawValue: video.preset).flatMap(X264Preset.allCases.firstIndex(of:)) ?? 0
            // A lower effort saves no memory, and the plan has already disabled subpixel motion search.
            for preset in X264Preset.names[..<min(3, current)] {
                offer("video.preset: \(preset)") { $0.video.preset = preset }
            }
            // An effort allows few tunes and no options of its own.
            if video.encoderOptions.isEmpty, ["", "zerolatency"].contains(video.tune) {
                offer("video.preset: \"\"") { $0.video.preset = "" }
            }
            offer("video.encoder_options: {}") { $0.video.encoderOptions = [:] }
            if !video.tune.split(separator: ",").contains("zerolatency") {
                offer("video.tune: zerolatency") { $0.video.tune = "zerolatency" }
            }
        }
        if video.threads > 1 { offer("video.threads: 1") { $0.video.threads = 1 } }
        if video.bFrames > 0 { offer("video.b_frames: 0") { $0.video.bFrames = 0 } }
        for (numerator, denominator) in [(3, 4), (1, 2)] {
            let width = max(16, video.width * numerator / denominator & ~1)
            let height = max(16, video.height * numerator / denominator & ~1)
            offer("video.width: \(width), video.height: \(height)") {
                $0.video.width = width
                $0.video.height = height
            }
        }
        // Half the log, but at least the minimum that the other keys require.
        let half = configuration.buffer.maxBytes / 2
        if half >= max(configuration.leastLogBytes, BufferConfiguration.leastBytes) {
            offer("buffer.max_bytes: \(half)") { $0.buffer.maxBytes = half }
        }
        let latency = max(configuration.audio.minLatency, .milliseconds(250))
        if latency < configuration.audio.maxLatency {
            offer("audio.max_latency_ms: \(latency.milliseconds)") { $0.audio.maxLatency = latency }
        }
        if configuration.privacy.curtainStyle == .picture {
            offer("privacy.curtain_style: solid") { $0.privacy.curtainStyle = .solid }
        }
        if !configuration.webhooks.isEmpty {
            offer("webhooks: one fewer") { $0.webhooks.removeLast() }
        }
        if configuration.destinations.count > 1 {
            offer("destinations: one fewer") { $0.destinations.removeLast() }
        }
        return found
    }
}

extension Configuration {
    /// The minimum size of the packet log: the delay, the time up to a skip to a keyframe, and the largest keyframe
    /// that the rate control allows.
    package var leastLogBytes: Int {
        let milliseconds = Int((buffer.delay + buffer.dropToKeyframe + video.vbv).milliseconds)
        return (video.bitrate + audio.bitrate) / 8 * milliseconds / 1000
    }
}
