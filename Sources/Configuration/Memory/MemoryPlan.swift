internal import Endpoints
internal import MediaCore

/// The maximum memory of one broadcast, calculated before anything is allocated.
package struct MemoryPlan: Equatable, Sendable {
    /// The purpose of memory. The raw value is its name in JSON and metrics.
    package enum Purpose: String, CaseIterable, Sendable {
        case baseline
        case videoEncoder = "video_encoder"
        case audioEncoder = "audio_encoder"
        case canvases
        case ingestBand = "ingest_band"
        case scaler
        case pcmQueue = "pcm_queue"
        case audioMixer = "audio_mixer"
        case packetLog = "packet_log"
        case sendBuffers = "send_buffers"
        case tls
        case controlServer = "control_server"
        case snapshots
        case webhooks
        case curtain
        case threadStacks = "thread_stacks"
        case reserve
    }

    package struct Line: Equatable, Sendable {
        package let purpose: Purpose
        package let bytes: Int
        /// The basis of the number, for tables.
        package let how: String
    }

    /// A change to the configuration that makes the plan smaller.
    package struct Lever: Equatable, Sendable {
        /// As in the configuration file: `video.preset: superfast`.
        package let change: String
        package let savedBytes: Int
        /// Whether the plan fits with this change alone.
        package let isEnough: Bool
    }

    /// Every purpose, in the order of `Purpose`.
    package let lines: [Line]
    package let capBytes: Int
    /// The loss of picture quality that makes the plan fit; nil without a loss.
    package let compromise: MemoryCosts.Compromise?
    /// The largest saving comes first. Empty if the plan fits, or if only one set of costs is known.
    package let levers: [Lever]

    package var totalBytes: Int { lines.reduce(0) { $0 + $1.bytes } }
    package var fits: Bool { totalBytes <= capBytes }
    /// Negative if the plan does not fit.
    package var leftBytes: Int { capBytes - totalBytes }
    /// The smallest `memory.cap_bytes` for the full picture quality, in whole MiB.
    package var sufficientCapMebibytes: Int {
        max(plannedMebibytes, Self.wholeMebibytes(compromise?.fullCapBytes ?? 0))
    }
    /// The total, in whole MiB.
    var plannedMebibytes: Int { Self.wholeMebibytes(totalBytes) }
    private static func wholeMebibytes(_ bytes: Int) -> Int { (bytes + (1 << 20) - 1) >> 20 }
    /// The reason why a change is refused, and the cap that suffices.
    package var excess: String {
        "the memory plan would be \(totalBytes) bytes of \(capBytes), and memory.cap_bytes: "
            + "\(sufficientCapMebibytes)MiB suffices"
    }

    /// Makes a plan from the costs of this configuration. It has no levers.
    package init(_ configuration: Configuration, costs: MemoryCosts) {
        self.init(configuration, costs: costs, levers: [])
    }

    /// Makes a plan. If it does not fit, the plan includes smaller configurations and what each saves.
    ///
    /// - Parameter costing: returns the costs of any configuration; must be pure.
    package init(_ configuration: Configuration, costing: (Configuration) -> MemoryCosts) {
        let plan = MemoryPlan(configuration, costs: costing(configuration))
        guard !plan.fits else {
            self = plan
            return
        }
        let levers: [Lever] = Self.smallerConfigurations(configuration).compactMap { change, smaller in
            let saved = plan.totalBytes - MemoryPlan(smaller, costs: costing(smaller)).totalBytes
            return saved > 0 ? Lever(change: change, savedBytes: saved, isEnough: saved >= -plan.leftBytes) : nil
        }
        self.init(
            configuration, costs: costing(configuration), levers: levers.sorted { $0.savedBytes > $1.savedBytes })
    }

    private init(_ configuration: Configuration, costs: MemoryCosts, levers: [Lever]) {
        lines = Purpose.allCases.map { purpose in
            let (bytes, how) = Self.cost(of: purpose, configuration, costs)
            return Line(purpose: purpose, bytes: bytes, how: how)
        }
        capBytes = configuration.memory.capBytes
        compromise = costs.compromise
        self.levers = levers
    }

    private static func cost(of purpose: Purpose, _ configuration: Configuration, _ costs: MemoryCosts) -> (Int, String)
    {
        let video = configuration.video
        let size = "\(video.width)x\(video.height)"
        let destinations = configuration.destinations
        // Without destinations, the plan assumes one rtmp:// destination.
        let destinationCount = max(1, destinations.count)
        switch purpose {
        case .baseline: return (costs.baseline, "code in use, libraries, runtime; measured")
        case .videoEncoder:
            let quality = video.encoderEffort.map { "effort \($0.rawValue)" } ?? video.preset
            let words = [video.encoder, quality, video.tune].filter { !$0.isEmpty }.joined(separator: " ")
            return (costs.videoEncoder, "\(words), \(size), \(counted(video.threads, "thread"))")
        case .audioEncoder: return (costs.audioEncoder, "AAC, \(counted(configuration.audio.channels, "channel"))")
        case .canvases:
            let what = costs.canvasCount < 3 ? "shown, being filled" : "shown, waiting, being filled"
            return (costs.canvas * costs.canvasCount, "\(costs.canvasCount) of \(size): \(what)")
        case .ingestBand: return (costs.ingestBand, "one message being read")
        case .scaler: return (costs.scaler, "to \(size)")
        case .pcmQueue: return (costs.pcmQueue, "fixed: two of the largest audio messages")
        case .audioMixer: return (costs.audioMixer, "audio.max_latency_ms and 1 s of app and microphone")
        case .packetLog: return (configuration.buffer.maxBytes + costs.packetLogIndex, "buffer.max_bytes and its index")
        case .sendBuffers:
            return (
                costs.sendBuffers,
                counted(destinationCount, "destination") + (destinations.isEmpty ? ", assumed; none is configured" : "")
            )
        case .tls: return tls(configuration, costs)
        case .controlServer: return (costs.controlServer, "HTTP server and its connections")
        case .snapshots:
            let size = configuration.control.snapshotSize
            let what = size == 0 ? "control.snapshot_size is 0" : "one of at most \(size) pixels, as JPEG"
            return (costs.snapshots, what)
        case .webhooks:
            let count = configuration.webhooks.count
            return (costs.webhook * count, count == 0 ? "none" : counted(count, "webhook"))
        case .curtain:
            guard configuration.privacy.curtainStyle == .picture else { return (0, "no picture") }
            // The picture is decoded before the memory below is allocated.
            let later =
                costs.videoEncoder + costs.audioEncoder + costs.canvas * costs.canvasCount + costs.pcmQueue
                + costs.audioMixer + configuration.buffer.maxBytes
            let excess = max(0, costs.curtainDecoding - later)
            return (
                costs.canvas + excess,
                "a picture of \(size)" + (excess > 0 ? ", plus decoding" : ""))
        case .threadStacks:
            let count = costs.threadCount + destinationCount + configuration.webhooks.count
            return (costs.threadStack * count, "\(counted(count, "thread")), touched pages")
        case .reserve: return (costs.reserve, "fragmentation")
        }
    }

    private static func tls(_ configuration: Configuration, _ costs: MemoryCosts) -> (Int, String) {
        let destinations = configuration.destinations.count { $0.url.hasTLS }
        let webhooks = configuration.webhooks.count { $0.url?.isSecure == true }
        guard destinations + webhooks > 0 else { return (0, "no connection with TLS") }
        return (
            costs.tlsSession * destinations + costs.webhookTLS * webhooks,
            counted(destinations, "session") + (webhooks > 0 ? ", \(counted(webhooks, "webhook"))" : "")
        )
    }
}

func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
