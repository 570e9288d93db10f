internal import Buffering
package import Configuration
internal import ControlProtocol
internal import Glibc
package import Ingest
internal import IngestProtocol
package import LinuxSystem
package import Logging
internal import MediaCore
package import Privacy
internal import Publishing

/// The lifecycle of broadcasts, one after another: starts each one, and closes it while the next client waits in the
/// socket's backlog. The host owns the types that do everything else with a broadcast.
///
/// `IngestHost` calls come from the ingest thread. Everything else may be called from any thread.
package final class BroadcastHost: Sendable {
    package let destinations: DestinationRoster
    /// Checks the key, login and CA files of the destinations.
    package let files: DestinationFiles
    /// For operators.
    package let operating: OperatorCommands
    package let privacy: PrivacyDesk
    package let reloader: ConfigurationReloader
    package let status: StatusReporter
    package let threads: ThreadWatch
    let current = CurrentBroadcast()
    let ledger = BroadcastLedger()
    let phase: BroadcastPhase
    let server: IngestServer
    let logger: Logger
    let clock: any TimeSource
    /// In force now; a reload changes it.
    package var configuration: Configuration { destinations.configuration }
    let annotations: AnnotationLog
    let memoryRoom: @Sendable () -> MemoryRoom?
    let watch: BroadcastWatch
    let opener: BroadcastOpener

    /// - Parameters:
    ///   - environment: environment variables that may hold stream keys and logins (`key_env`, `login_env`).
    ///   - audit: the audit log; nil for none.
    ///   - stateFile: keeps holds, regions and switches beyond the end of the daemon; nil for none.
    package convenience init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil, stateFile: PrivacyStateFile? = nil
    ) {
        let (cap, groups) = (configuration.memory.capBytes, MemoryGroup.own())
        self.init(
            configuration: configuration, environment: environment, server: server, logger: logger, clock: clock,
            audit: audit, stateFile: stateFile, memoryRoom: { MemoryRoom.tightest(cap: cap, groups: groups) })
    }

    /// - Parameter memoryRoom: returns the memory that is left; nil if it is unknown.
    init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil, stateFile: PrivacyStateFile? = nil,
        memoryRoom: @escaping @Sendable () -> MemoryRoom?
    ) {
        (self.server, self.logger, self.clock, self.memoryRoom) = (server, logger, clock, memoryRoom)
        phase = BroadcastPhase(current, clock: clock) { logger.tell($0) }
        annotations = AnnotationLog(logger, clock: clock)
        destinations = DestinationRoster(
            configuration, environment: environment, current, ledger, clock: clock, logger: logger)
        files = DestinationFiles(destinations, clock: clock, logger: logger)
        operating = OperatorCommands(destinations, current, phase, server: server, logger: logger)
        privacy = PrivacyDesk(
            configuration.privacyPolicy, audit: audit, stateFile: stateFile, clock: clock,
            effects: BroadcastEffects(current, phase, server: server, logger: logger))
        reloader = ConfigurationReloader(configuration, destinations, operating, privacy, current, clock: clock)
        status = StatusReporter(
            destinations, current, phase, ledger, privacy, memoryRoom: memoryRoom, clock: clock)
        threads = ThreadWatch(server: server.work, current, clock: clock)
        watch = BroadcastWatch(current, phase, destinations, server: server, logger: logger)
        opener = BroadcastOpener(
            destinations: destinations, privacy: privacy, watch: watch, clock: clock, logger: logger,
            // The daemon has refused invalid values at its start.
            freeze: try? TestFreeze(environment: environment))
    }

    // MARK: Called by the main thread

    /// Checks the memory limits. Called twice a second.
    package func watchMemory() { current.running?.memory.look() }

    /// Measures, and notifies the client of changes. Called once a second.
    package func tick() {
        let now = clock.now()
        phase.note()
        if let run = current.running {
            // Servers disconnect publishers that send nothing, so they get background and silence until a sample comes.
            if now - run.broadcast.startedAt >= Self.longestSilentStart { run.broadcast.clock.start() }
            run.rate.note(run.broadcast.meter.videoBytes.current, at: now)
            run.advisor.tick()
        }
        if let broadcast = current.broadcast {
            server.notify(broadcast.counts)
            broadcast.destinations.lookAtFiles()
        }
        files.tick()
        status.noteHistory()
        privacy.tick()
    }

    /// The longest time from the start of a broadcast without a sample until background and silence are published.
    private static let longestSilentStart = MediaTime.seconds(1)

    // MARK: The end

    /// Records for the status that the daemon is stopping. `IngestServer.stop` ends the broadcast.
    package func noteStopping() {
        current.state.withLock { $0.isStopping = true }
        threads.end()
        phase.note()
    }

    package var isStopping: Bool { current.isStopping }

    /// Waits for a broadcast that is closing. Call after `IngestServer.join`.
    ///
    /// - Returns: false if the stop ended a broadcast that could not send everything that it had encoded, or if there
    ///   were broadcasts and no destination ever took a packet.
    package func shutDown() -> Bool {
        joinCloser()
        privacy.stop()
        let ended = ledger.now
        let hasNothing = ended.hasPublishedNothing && !ended.hasPublished
        if hasNothing {
            logger.tell(.nothingWasPublished)
        }
        return ended.hasDrained && !hasNothing
    }

    /// Whether every packet of every ended broadcast has been sent.
    package var hasSentAll: Bool { ledger.now.hasSentAll }

    func joinCloser() { current.state.withLock { $0.lifecycle.takeCloser() }?.join() }

    /// The body of the closing thread.
    func close(_ run: Lifecycle.Run, _ reason: BroadcastEnd, _ sentence: String) {
        let broadcast = run.broadcast
        let drained = broadcast.close(
            deadline: clock.now() + configuration.stop.drain + configuration.buffer.delay)
        let goodbye = broadcast.goodbye(reason, drained: drained, sentence: sentence)
        privacy.lower(reason: "the broadcast has ended") { $0.awaitsAPicture }
        let snapshots = broadcast.destinations.snapshots
        ledger.notePublished(snapshots, isEnded: true)
        // `frames` counts the client's frames; `dropped` counts packets that a destination did not get.
        let dropped = snapshots.reduce(0) { $0 + $1.lostPackets }
        let hasSentAll = drained && dropped == 0
        logger.tell(
            .broadcastEnded(
                frames: Int(goodbye.framesTaken), framesDropped: Int(goodbye.framesDropped), dropped: dropped,
                duration: clock.now() - broadcast.startedAt, sentAll: hasSentAll))
        // An earlier failure does not affect the exit status. A broadcast that was draining at the stop does.
        let isOfTheStop = reason == .daemonStopping || (isStopping && !reason.hasFailed)
        ledger.note(
            ended: status.report, snapshots, hasSentAll: hasSentAll, drained: isOfTheStop ? drained : nil
        ) {
            current.state.withLock { state in
                state.lifecycle = .idle(closer: state.lifecycle.takeCloser())
            }
        }
        phase.note()
        privacy.captureEnds()
        ProcessMemory.releaseFreed()
        server.broadcastClosed(goodbye)
    }
}
