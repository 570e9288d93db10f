internal import Buffering
package import Configuration
internal import ControlProtocol
internal import Glibc
package import Ingest
internal import IngestProtocol
package import LinuxSystem
package import Logging
internal import MediaCore
internal import Privacy
internal import Publishing

/// Takes one broadcast after another from the ingest server: starts it, feeds it, and closes it while the next client
/// waits in the socket's backlog.
///
/// `IngestHost` calls come from the ingest thread, `DestinationEvent`s from the publishing threads; everything else
/// may be called from any.
package final class BroadcastHost: Sendable {
    struct State {
        var broadcast: Broadcast?
        /// Those of the configuration, and what was added and removed since.
        var destinations: [DestinationConfiguration]
        /// URLs of those that have worked since the daemon began, by name.
        var worked: [String: DestinationURL] = [:]
        var isPaused = false
        /// Paused by an operator.
        var isHeld = false
        /// Bits a second that an operator allows; nil as configured. Lasts until the daemon ends.
        var bitrateCeiling: Int?
        /// What a reload has put in the place of the configured bitrate; at most that.
        var reloadedBitrate: Int?
        /// What the broadcasts that have ended counted.
        var totals = StatusReport()
        var history = StatusHistory()
        /// What `status` calls the state, and since when.
        var phase = StatusReport.State.idle
        var phaseSince: MediaTime
        /// Annotations that came in the second that began at `annotationSecond`.
        var annotations = 0
        var annotationSecond = MediaTime.zero
        /// The broadcast is to end because something failed.
        var hasFailed = false
        var closer: WorkerThread?
        /// Broadcasts since the daemon started.
        var count: UInt64 = 0
        /// Which of them is running, or about to, from its client's first message on.
        var running: UInt64?
        /// How its destinations ended: an operator who looks afterwards sees why.
        var lastDestinations: [DestinationSnapshot] = []
        /// False where the broadcast that a stop ended could not send all that it had encoded.
        var hasDrained = true
        /// A destination has taken packets; and a broadcast has ended of which none took any.
        var hasPublished = false
        var hasPublishedNothing = false
        /// No broadcast has ended of which viewers lost a packet.
        var hasSentAll = true
        /// The daemon has been told to stop.
        var isStopping = false
        /// Bits a second that the video encoder delivers.
        var videoBitrate = 0
        var videoRate = RateGauge()
        var advice = ClientAdvice()
        var governor = MemoryGovernor(steps: [])
    }

    let configuration: Configuration
    let environment: [String: String]
    let logger: Logger
    let clock: any TimeSource
    let startedAt: MediaTime
    /// How much memory is left; nil where nobody can tell.
    let memoryRoom: @Sendable () -> MemoryRoom?
    let server: IngestServer
    let state: Monitor<State>
    let progress: Monitor<Progress>
    let reloading: Monitor<Reload>
    /// For the life of the daemon: who has raised it holds it for the next broadcast, too.
    let curtain: Curtain
    let standing: StandingRegions
    let protections: Protections
    /// Writes the state file; nil for none.
    let keeper: PrivacyKeeper?
    /// What the state file held when the daemon started.
    let recordAtStart: PrivacyRecord?
    let audit: AuditLog
    /// One at a time: whoever is told that it is up can rely on it.
    let raising = Monitor(())
    /// Who is at the other end of the capture socket.
    let clientActor = Monitor(PrivacyActor.daemon)
    let freeze: TestFreeze?
    /// What captured apps are told.
    let captures: CaptureJournal
    let consultation: Monitor<Consultation>
    /// The last capture's. It begins with the time, so that an answer to a daemon that has ended is not taken for one
    /// to this.
    let captureNumber = Monitor(UnixTime.milliseconds * 1000)

    /// - Parameters:
    ///   - environment: where stream keys and logins may stand (`key_env`, `login_env`).
    ///   - audit: nil for none.
    ///   - stateFile: what outlives the daemon; nil for nothing.
    package convenience init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil, stateFile: PrivacyStateFile? = nil
    ) {
        let (cap, groups) = (configuration.memory.capBytes, MemoryGroup.own())
        self.init(
            configuration: configuration, environment: environment, server: server, logger: logger, clock: clock,
            audit: audit, stateFile: stateFile, memoryRoom: { MemoryRoom.tightest(cap: cap, groups: groups) })
    }

    init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil, stateFile: PrivacyStateFile? = nil,
        memoryRoom: @escaping @Sendable () -> MemoryRoom?
    ) {
        self.memoryRoom = memoryRoom
        self.audit = audit ?? AuditLog.none(clock)
        let epoch = UnixTime.milliseconds - Int(clock.now().milliseconds)
        let finding = stateFile?.find() ?? .nothing
        let restoration = PrivacyRestoration(finding, configuration.privacy, epoch: epoch, now: clock.now())
        protections = Protections(off: restoration.off)
        standing = StandingRegions(isOn: !restoration.off.contains(.standingRegions), restoration.regions)
        curtain = Curtain(heldBy: restoration.holds)
        var consultation = Consultation()
        // `CaptureStateMonitor` tries to connect at least every 250 ms.
        let patience = configuration.privacy.consultedReturn
        consultation.expect(restoration.consulting, until: patience == .zero ? nil : clock.now() + patience)
        self.consultation = Monitor(consultation)
        if case .record(let record) = finding { recordAtStart = record } else { recordAtStart = nil }
        self.configuration = configuration
        self.environment = environment
        self.server = server
        self.logger = logger
        self.clock = clock
        startedAt = clock.now()
        state = Monitor(
            State(destinations: configuration.destinations, phaseSince: startedAt))
        captures = CaptureJournal(at: startedAt)
        progress = Monitor(Progress(watch: ProgressWatch(patience: Self.usualPatience), lastLook: startedAt))
        reloading = Monitor(Reload(configuration: configuration))
        // A value that means nothing was refused at the start.
        freeze = try? TestFreeze(environment: environment)
        keeper = stateFile.map { [curtain, standing, protections, reloading, consultation = self.consultation] file in
            PrivacyKeeper(
                clock: clock,
                record: {
                    Self.record(
                        curtain, standing, protections, reloading.withLock { $0.configuration.privacy },
                        consulting: consultation.withLock { $0.apps }, epoch: epoch)
                },
                mark: { file.mark() },
                write: { record throws(StateFileFailure) in
                    // What could not be read, and could not be moved either, is not overwritten.
                    if case .unreadable(let why, nil) = finding { throw StateFileFailure(sentence: why) }
                    try file.write(record)
                })
        }
        tell(finding, restoration, path: stateFile?.path)
    }

    /// Takes note that the daemon stops, for the status; `IngestServer.stop` is what ends the broadcast.
    package func noteStopping() {
        state.withLock { $0.isStopping = true }
        // The main thread waits for the others from here on.
        progress.withLock { $0.isWatched = false }
        notePhase()
    }

    package var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits for a broadcast that is closing. False where it was ended by the stop and could not send all that it had
    /// encoded, and where there were broadcasts and no destination ever took a packet. Call after `IngestServer.join`.
    package func shutDown() -> Bool {
        joinCloser()
        settleAudit()
        endAudit()
        keeper?.stop()
        let (hasDrained, hasNothing) = state.withLock { ($0.hasDrained, $0.hasPublishedNothing && !$0.hasPublished) }
        if hasNothing {
            logger.error("nothing was published", metadata: ["why": "no destination ever took a packet"])
        }
        return hasDrained && !hasNothing
    }

    /// Viewers have got every packet of every broadcast that has ended.
    package var hasSentAll: Bool { state.withLock { $0.hasSentAll } }

    /// Takes note of whether anything has reached a destination, before their figures go.
    func notePublished(_ snapshots: [DestinationSnapshot], isEnded: Bool = false) {
        let has = snapshots.contains { $0.sentPackets > 0 }
        // A broadcast without a destination, or without a picture to begin with, had nothing to publish.
        let had = snapshots.contains { !$0.isDrained && ($0.offeredPackets > 0 || $0.state == .failed) }
        state.withLock { state in
            state.hasPublished = state.hasPublished || has
            state.hasPublishedNothing = state.hasPublishedNothing || (isEnded && had && !has)
        }
    }

    /// A client that has sent no sample by then is broadcast as background and silence.
    private static let longestSilentStart = MediaTime.seconds(1)

    var current: Broadcast? { state.withLock { $0.broadcast } }

    // MARK: Beginning and ending

    /// Another one begins; its name, for the client and the log.
    func beginBroadcast() -> String {
        let number = state.withLock { state in
            state.hasFailed = false
            let number = state.count + 1
            state.running = number
            return number
        }
        return "\(getpid())-\(number)"
    }

    func close(_ broadcast: Broadcast, _ reason: BroadcastEnd, _ sentence: String) {
        let drained = broadcast.close(
            deadline: clock.now() + configuration.stop.drain + configuration.buffer.delay)
        let goodbye = broadcast.goodbye(reason, drained: drained, sentence: sentence)
        lowerCurtain(reason: "the broadcast has ended") { $0.awaitsAPicture }
        let snapshots = broadcast.destinations.snapshots
        notePublished(snapshots, isEnded: true)
        // Frames are the client's; what is dropped are packets, which viewers of a destination did not get.
        let dropped = snapshots.reduce(0) { $0 + $1.lostPackets }
        let hasSentAll = drained && dropped == 0
        logger.info(
            "broadcast ended",
            metadata: [
                "frames": "\(goodbye.framesTaken)", "frames_dropped": "\(goodbye.framesDropped)",
                "dropped": "\(dropped)", "duration": "\(clock.now() - broadcast.startedAt)",
                "sent_all": "\(hasSentAll)",
            ])
        let counted = status
        state.withLock {
            $0.broadcast = nil
            $0.running = nil
            $0.totals.note(ended: counted)
            $0.governor = MemoryGovernor(steps: [])
            $0.lastDestinations = snapshots
            $0.hasSentAll = $0.hasSentAll && hasSentAll
            // A broadcast that failed is no reason for a daemon that is then stopped to say so; one that was being
            // drained when the stop came is.
            if reason == .daemonStopping || ($0.isStopping && !reason.hasFailed) { $0.hasDrained = drained }
        }
        notePhase()
        captureEnds()
        ProcessMemory.releaseFreed()
        server.broadcastClosed(goodbye)
    }

    func joinCloser() {
        let closer = state.withLock { state in
            defer { state.closer = nil }
            return state.closer
        }
        closer?.join()
    }

    /// The first failure ends the broadcast; what fails after it, or while it is closed, is no news.
    ///
    /// - Parameter logged: why, for the log, where the sentence, which the client is told, has been logged already.
    func failed(_ sentence: String, logged: String? = nil) {
        let isNews = state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed && state.closer == nil
        }
        guard isNews else { return }
        logger.error("broadcast failed", metadata: ["why": "\(logged ?? sentence)", "now": "it is ended"])
        server.fail(sentence)
    }

    /// Once a second, by the main thread: measures, and tells the client what has changed.
    package func tick() {
        let now = clock.now()
        notePhase()
        let (message, counts) = state.withLock { state -> (StateMessage?, CountersMessage?) in
            guard let broadcast = state.broadcast, state.closer == nil else { return (nil, nil) }
            // Servers give up on publishers that send nothing: background and silence, until the client has more.
            if now - broadcast.startedAt >= Self.longestSilentStart { broadcast.clock.start() }
            state.videoBitrate = Int(state.videoRate.note(broadcast.meter.videoBytes.current, at: now) * 8)
            let advice = state.advice.tick(
                broadcast.destinations.adviceFigures(at: now), broadcast.frameFigures,
                maxFrameRate: configuration.video.frameRate.framesPerSecond)
            return (advice, broadcast.counts)
        }
        if let message { server.notify(message) }
        if let counts { server.notify(counts) }
        current?.destinations.lookAtFiles()
        noteHistory()
        giveUpConsulting()
        settleAudit()
        settleState()
    }
}
