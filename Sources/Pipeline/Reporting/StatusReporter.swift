internal import Configuration
package import ControlProtocol
internal import Encoding
internal import FrameGeometry
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy
internal import ProductVersion

/// The data of the control server's reports. Any thread; no call waits for a data thread.
package final class StatusReporter: Sendable {
    private let destinations: DestinationRoster
    private let current: CurrentBroadcast
    private let phase: BroadcastPhase
    private let ledger: BroadcastLedger
    private let privacy: PrivacyDesk
    /// Returns the memory that is left; nil if it is unknown.
    private let memoryRoom: @Sendable () -> MemoryRoom?
    private let clock: any TimeSource
    private let startedAt: MediaTime
    private let startTime = UnixTime.milliseconds
    private let rows = Monitor(StatusHistory())

    init(
        _ destinations: DestinationRoster, _ current: CurrentBroadcast,
        _ phase: BroadcastPhase, _ ledger: BroadcastLedger, _ privacy: PrivacyDesk,
        memoryRoom: @escaping @Sendable () -> MemoryRoom?, clock: any TimeSource
    ) {
        (self.destinations, self.current) = (destinations, current)
        (self.phase, self.ledger, self.privacy) = (phase, ledger, privacy)
        (self.memoryRoom, self.clock, startedAt) = (memoryRoom, clock, clock.now())
    }

    /// The last ten minutes.
    package var history: StatusHistory { rows.withLock { $0 } }

    /// Called once a second by the main thread. Allocates nothing.
    func noteHistory() {
        let run = current.run
        let queued = run?.broadcast.destinations.backlogDuration ?? .zero
        let counters = run?.broadcast.counters
        let frames = counters.map { $0.framesEncoded.asInt + $0.framesRepeated.asInt } ?? 0
        let needed = memoryRoom()?.needed ?? 0
        let uptime = clock.now() - startedAt
        rows.withLock {
            $0.note(
                uptime: uptime, bitrate: run?.rate.bitsPerSecond ?? 0, queued: queued, frames: frames, memory: needed)
        }
    }

    /// What the daemon does, in one line for `systemctl status`.
    package var statusLine: String {
        var report = look().report
        if let room = memoryRoom() {
            (report.memory.limitBytes, report.memory.neededBytes) = (room.limit, room.needed)
        }
        return report.line
    }

    /// Any thread: the current state in full.
    package var report: StatusReport {
        var report = look().report
        report.memory = memoryStatus
        report.privacy = privacy.status
        report.process = processStatus
        return report
    }

    /// The report with counters since the start of the daemon, for metrics.
    package var totals: StatusReport {
        let (report, isIdle, earlier) = look()
        var totals = isIdle ? report.gaugesOnly : report
        totals.memory = memoryStatus
        totals.privacy = privacy.status
        totals.process = processStatus
        totals.add(earlier)
        return totals
    }

    /// Everything except memory, and the counters of ended broadcasts. Both are of the same moment, so a broadcast
    /// that ends meanwhile is in exactly one of them.
    private func look() -> (report: StatusReport, isIdle: Bool, earlier: StatusReport) {
        phase.note()
        // Read after `note`, so that a state that has just begun is not in the future.
        let now = clock.now()
        let states = phase.now
        let (run, count, earlier) = ledger.look { earlier in
            current.state.withLock { ($0.lifecycle.run, $0.count, earlier) }
        }
        let configuration = destinations.configuration
        var report = StatusReport()
        report.version = Version.current
        report.uptimeMilliseconds = Int((now - startedAt).milliseconds)
        report.broadcasts = Int(clamping: count)
        report.video.width = configuration.video.width
        report.video.height = configuration.video.height
        report.video.frameRate = "\(configuration.video.frameRate)"
        report.video.encoder = configuration.video.encoder
        report.video.effort = configuration.video.encoderEffort?.rawValue ?? ""
        report.video.configuredEffort = report.video.effort
        report.video.scaler = configuration.scalerChoice.scaler(for: nil).rawValue
        report.video.targetBitsPerSecond = configuration.video.bitrate
        report.audio.sampleRate = configuration.audio.sampleRate
        report.audio.channels = configuration.audio.channels
        report.audio.targetBitsPerSecond = configuration.audio.bitrate
        report.queue.capacityBytes = configuration.buffer.maxBytes
        report.queue.capacityMilliseconds = Int(configuration.buffer.duration.milliseconds)
        report.state = states.phase.state
        report.stateMilliseconds = Int((now - states.phase.since).milliseconds)
        report.air.state = states.air.state
        report.air.sinceMilliseconds = Int((now - states.air.since).milliseconds)
        report.air.isRecording = states.isRecording
        guard let run else {
            let ended = earlier.lastDestinations
            report.destinations = ended.isEmpty ? untriedDestinations : ended.map { $0.status(at: now) }
            nameURLs(in: &report)
            return (report, true, earlier.totals)
        }
        let broadcast = run.broadcast
        report.client = broadcast.clientStatus(at: now)
        report.video.bitsPerSecond = run.rate.bitsPerSecond
        broadcast.fill(&report, broadcast.destinations.snapshots, at: now)
        report.destinations += refusing(broadcast.started.source)
        nameURLs(in: &report)
        return (report, false, earlier.totals)
    }

    /// Replaces the destinations' current URLs (a part of a recording, a redirect's server) by the configured ones,
    /// so that operators find the same URLs at all times.
    private func nameURLs(in report: inout StatusReport) {
        let configured = destinations.all
        for index in report.destinations.indices {
            let name = report.destinations[index].name
            guard let destination = configured.first(where: { $0.name == name }) else { continue }
            report.destinations[index].url = destination.redactedURL
            report.destinations[index].kind = destination.url.kind
        }
    }

    /// The destinations that refuse this broadcast's source.
    private func refusing(_ source: SourceKind) -> [DestinationStatus] {
        destinations.all.filter { $0.refuses(source) }.map { destination in
            var status = DestinationStatus()
            status.name = destination.name
            status.lastError = "it refuses \(source): nothing of this broadcast goes there"
            return status
        }
    }

    /// The destinations before the first broadcast.
    private var untriedDestinations: [DestinationStatus] {
        destinations.all.map { destination in
            var status = DestinationStatus()
            status.name = destination.name
            return status
        }
    }

    private var processStatus: ProcessStatus {
        let usage = ProcessUsage.current()
        var status = ProcessStatus()
        status.cpuMilliseconds = Int(usage.cpuNanoseconds / 1_000_000)
        status.startTimeMilliseconds = startTime
        status.openDescriptors = usage.openDescriptors ?? 0
        status.maximumDescriptors = usage.maximumDescriptors ?? 0
        status.virtualBytes = usage.virtualBytes ?? 0
        return status
    }

    private var memoryStatus: MemoryStatus {
        let run = current.run
        var status = MemoryStatus()
        if let memory = ProcessMemory.current() {
            status.residentBytes = memory.resident
            status.peakResidentBytes = memory.peakResident
            status.anonymousBytes = memory.anonymous
        }
        if let room = memoryRoom() {
            status.limit = room.bound
            status.limitBytes = room.limit
            status.neededBytes = room.needed
        }
        let plan = destinations.configuration.memoryPlan(run?.broadcast.savings.fit)
        status.planBytes = plan.totalBytes
        status.capBytes = plan.capBytes
        status.plan = plan.lines.map { Counter($0.purpose.rawValue, $0.bytes) }
        let governor = run?.memory.governor ?? MemoryGovernor(steps: [])
        status.givenUp = governor.current.map { Counter($0.step.rawValue, $0.savedBytes) }
        status.bitrateLossPercent = governor.current.reduce(0) { $0 + $1.step.bitratePercent }
        if run?.broadcast.savings.fit.subpixelMotion == false {
            status.bitrateLossPercent = VideoEncoder.subpixelMotionPercent
        }
        status.stepsDown = governor.givenUp
        status.stepsUp = governor.takenBack
        return status
    }
}
