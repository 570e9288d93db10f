internal import Endpoints
internal import MediaCore

extension MemoryPlan {
    /// Changes worth trying when a plan does not fit, each with the configuration that it leads to.
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
            // Where an effort decides, a cheaper one takes no less, and subpixel motion has been left out already.
            for preset in X264Preset.names[..<min(3, current)] {
                offer("video.preset: \(preset)") { $0.video.preset = preset }
            }
            // An effort goes with few tunes and options.
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
        // Half the log, but never less than what the rules between keys ask for.
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
        if configuration.destinations.count > 1 {
            offer("destinations: one fewer") { $0.destinations.removeLast() }
        }
        return found
    }
}

extension Configuration {
    /// What the packet log must hold: the delay, everything up to a keyframe jump, and a keyframe as large as the rate
    /// control allows.
    package var leastLogBytes: Int {
        let milliseconds = Int((buffer.delay + buffer.dropToKeyframe + video.vbv).milliseconds)
        return (video.bitrate + audio.bitrate) / 8 * milliseconds / 1000
    }
}
