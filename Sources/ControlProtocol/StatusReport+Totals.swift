/// Counters over the whole life of a daemon: the sums over ended broadcasts and the current one.
extension StatusReport {
    /// Adds the counters of an earlier broadcast. Gauges do not change.
    package mutating func add(_ earlier: StatusReport) {
        video.framesReceived += earlier.video.framesReceived
        video.framesEncoded += earlier.video.framesEncoded
        video.framesRepeated += earlier.video.framesRepeated
        video.framesUnchanged += earlier.video.framesUnchanged
        video.framesPartial += earlier.video.framesPartial
        video.keyframes += earlier.video.keyframes
        video.bytesEncoded += earlier.video.bytesEncoded
        audio.appBlocksReceived += earlier.audio.appBlocksReceived
        audio.microphoneBlocksReceived += earlier.audio.microphoneBlocksReceived
        audio.samplesEncoded += earlier.audio.samplesEncoded
        audio.silenceSamples += earlier.audio.silenceSamples
        audio.bytesEncoded += earlier.audio.bytesEncoded
        memory.stepsDown += earlier.memory.stepsDown
        memory.stepsUp += earlier.memory.stepsUp
        drops.add(earlier.drops)
        timeline.add(earlier.timeline.filter { Self.timelineEvents.contains($0.name) })
        for latency in earlier.latency {
            let index = self.latency.firstIndex { $0.path == latency.path } ?? self.latency.endIndex
            if index == self.latency.endIndex {
                var new = LatencyStatus()
                new.path = latency.path
                self.latency.append(new)
            }
            self.latency[index].distribution.add(latency.distribution)
        }
        for index in destinations.indices {
            let before = earlier.destinations.first { $0.name == destinations[index].name }
            if let before { destinations[index].add(before) }
        }
    }

    /// Adds an ended broadcast to the sum of those before it. Its destinations remain in the sum.
    package mutating func note(ended: StatusReport) {
        let names = Set(ended.destinations.map(\.name))
        let before = self
        destinations = ended.destinations + before.destinations.filter { !names.contains($0.name) }
        for index in destinations.indices where names.contains(destinations[index].name) {
            let earlier = before.destinations.first { $0.name == destinations[index].name }
            if let earlier { destinations[index].add(earlier) }
        }
        var ended = ended
        ended.destinations = []
        add(ended)
    }

    /// The report without counters, for times without a broadcast.
    package var gaugesOnly: StatusReport {
        var report = self
        report.destinations = destinations.map { destination in
            var idle = DestinationStatus()
            (idle.name, idle.kind, idle.url) = (destination.name, destination.kind, destination.url)
            idle.state = destination.state
            return idle
        }
        return report
    }

    /// The counters of the timeline; the other values in its list are gauges.
    package static let timelineEvents: Set = [
        "jumps_forward", "jumps_backward", "lateness_rebases", "orientation_missing", "orientation_invalid",
        "video_format_changes", "audio_format_changes",
    ]

    /// All possible names in `memory.given_up`, in their order.
    package static let memorySteps = ["half_log", "least_log", "two_pictures", "one_thread", "no_subpixel_motion"]
}

extension DestinationStatus {
    fileprivate mutating func add(_ earlier: DestinationStatus) {
        bytesSent += earlier.bytesSent
        packetsSent += earlier.packetsSent
        bytesAcknowledged += earlier.bytesAcknowledged
        connects += earlier.connects
        failures.add(earlier.failures)
        drops.add(earlier.drops)
        latency.distribution.add(earlier.latency.distribution)
    }
}

extension LatencyStatus.Distribution {
    fileprivate mutating func add(_ earlier: Self) {
        if bounds.isEmpty { (bounds, atMost) = (earlier.bounds, earlier.bounds.map { _ in 0 }) }
        for index in earlier.atMost.indices { atMost[index] += earlier.atMost[index] }
        count += earlier.count
        totalMicroseconds &+= earlier.totalMicroseconds
    }
}

extension [Counter] {
    fileprivate mutating func add(_ earlier: [Counter]) {
        for counter in earlier {
            if let index = firstIndex(where: { $0.name == counter.name }) {
                self[index].value += counter.value
            } else {
                append(counter)
            }
        }
    }
}
