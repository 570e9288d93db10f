/// The daemon's answer to `GET /status`: current gauges, and counters of the broadcast unless a field says otherwise.
///
/// Names in JSON are stable: new ones may be added, but no name changes its meaning. Names of quantities end in their
/// unit.
package struct StatusReport: JSONRecord {
    package enum State: String, CaseIterable, Sendable {
        /// No client is connected.
        case idle
        /// A client is connected, but nothing has been sent yet.
        case starting
        case live
        /// Packets have been sent, but no destination takes any now. The daemon tries to reconnect.
        case reconnecting
        /// The client has paused.
        case paused
        /// The broadcast is over, and queued packets are being sent.
        case draining
        /// The daemon is ending.
        case stopping
    }

    package var version = ""
    package var state = State.idle
    package var stateMilliseconds = 0
    /// What viewers get.
    package var air = AirStatus()
    package var uptimeMilliseconds = 0
    /// Broadcasts since the daemon started, the current one included.
    package var broadcasts = 0
    package var client: ClientStatus?
    package var video = VideoStatus()
    package var audio = AudioStatus()
    /// Samples that were dropped before encoding, by cause.
    package var drops: [Counter] = []
    package var queue = QueueStatus()
    package var destinations: [DestinationStatus] = []
    package var memory = MemoryStatus()
    /// The timeline's jumps, corrections and skew; names end in their unit.
    package var timeline: [Counter] = []
    package var process = ProcessStatus()
    package var latency: [LatencyStatus] = []
    package var privacy = PrivacyStatus()
    /// Counters since the daemon started.
    package var webhooks: [WebhookStatus] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("version", &version)
        fields("state", &state)
        fields("state_ms", &stateMilliseconds)
        fields("air", &air)
        fields("uptime_ms", &uptimeMilliseconds)
        fields("broadcasts", &broadcasts)
        fields("client", &client)
        fields("video", &video)
        fields("audio", &audio)
        fields("drops", &drops)
        fields("queue", &queue)
        fields("destinations", &destinations)
        fields("memory", &memory)
        fields("timeline", &timeline)
        fields("latency", &latency)
        fields("privacy", &privacy)
        fields("process", &process)
        fields("webhooks", &webhooks)
    }
}

/// The capture client that is connected.
package struct ClientStatus: JSONRecord {
    package var name = ""
    /// The source kind that it announced.
    package var kind = ""
    package var connectedMilliseconds = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("name", &name)
        fields("kind", &kind)
        fields("connected_ms", &connectedMilliseconds)
    }
}

/// What the destination that is furthest behind has yet to send, and the capacity of the packet log.
package struct QueueStatus: JSONRecord {
    package var milliseconds = 0
    package var bytes = 0
    package var packets = 0
    package var capacityMilliseconds = 0
    package var capacityBytes = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("ms", &milliseconds)
        fields("bytes", &bytes)
        fields("packets", &packets)
        fields("capacity_ms", &capacityMilliseconds)
        fields("capacity_bytes", &capacityBytes)
    }
}

/// The memory that the process uses, the plan, and what the broadcast has given up.
package struct MemoryStatus: JSONRecord {
    package var residentBytes = 0
    package var peakResidentBytes = 0
    package var anonymousBytes = 0
    package var planBytes = 0
    package var capBytes = 0
    /// The plan by purpose, in bytes.
    package var plan: [Counter] = []
    /// The name of the tightest limit: a memory cgroup or memory.cap_bytes. Empty if it is unknown.
    package var limit = ""
    package var limitBytes = 0
    /// The part of the resident memory that cannot be reclaimed: anonymous memory and the code in use.
    package var neededBytes = 0
    /// What was given up because memory was short, with the bytes that each step saves.
    package var givenUp: [Counter] = []
    /// How many more bits, in per cent, viewers would need for the picture that the encoder would make with enough
    /// memory; 0 if it has enough.
    package var bitrateLossPercent = 0
    /// Steps of the memory governor in this broadcast.
    package var stepsDown = 0
    package var stepsUp = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("resident_bytes", &residentBytes)
        fields("peak_resident_bytes", &peakResidentBytes)
        fields("anonymous_bytes", &anonymousBytes)
        fields("plan_bytes", &planBytes)
        fields("cap_bytes", &capBytes)
        fields("plan", &plan)
        fields("limit", &limit)
        fields("limit_bytes", &limitBytes)
        fields("needed_bytes", &neededBytes)
        fields("given_up", &givenUp)
        fields("bitrate_loss_percent", &bitrateLossPercent)
        fields("steps_down", &stepsDown)
        fields("steps_up", &stepsUp)
    }
}

/// The resources that the process uses, as Prometheus's client libraries report them.
package struct ProcessStatus: JSONRecord {
    /// The processor time of all threads, since the process started.
    package var cpuMilliseconds = 0
    /// Unix time in milliseconds.
    package var startTimeMilliseconds = 0
    /// Zero if the numbers are unknown.
    package var openDescriptors = 0
    package var maximumDescriptors = 0
    package var virtualBytes = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("cpu_ms", &cpuMilliseconds)
        fields("start_time_ms", &startTimeMilliseconds)
        fields("open_fds", &openDescriptors)
        fields("max_fds", &maximumDescriptors)
        fields("virtual_bytes", &virtualBytes)
    }
}

/// How long one path through the daemon has taken in this broadcast; quantiles are exact to 6 %.
package struct LatencyStatus: JSONRecord {
    /// The start and end of the path, such as `socket_to_encoder`.
    package var path = ""
    package var averageMicroseconds = 0
    package var medianMicroseconds = 0
    package var percentile99Microseconds = 0
    package var maximumMicroseconds = 0
    /// For metrics; not in JSON.
    package var distribution = Distribution()

    /// How many values are at most each bound.
    package struct Distribution: Equatable, Sendable {
        /// Microseconds, in rising order.
        package var bounds: [UInt64] = []
        /// One count for each bound.
        package var atMost: [UInt64] = []
        package var count: UInt64 = 0
        package var totalMicroseconds: UInt64 = 0

        package init() {}
    }

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("path", &path)
        fields("average_us", &averageMicroseconds)
        fields("p50_us", &medianMicroseconds)
        fields("p99_us", &percentile99Microseconds)
        fields("maximum_us", &maximumMicroseconds)
    }
}
