package import Configuration
internal import ControlProtocol
package import Ingest
package import IngestProtocol
package import LinuxSystem
package import Logging
package import MediaCore
internal import Buffering
internal import Privacy
internal import Publishing
internal import Glibc

/// Takes one broadcast after another from the ingest server: starts it, feeds it, and closes it while the next client
/// waits in the socket's backlog.
///
/// `IngestConsumer` calls come from the ingest thread, `DestinationEvent`s from the publishing threads; everything else
/// may be called from any.
package final class BroadcastHost: IngestConsumer {
    struct State {
        var broadcast: Broadcast?
        /// Those of the configuration, and what was added and removed since.
        var destinations: [DestinationConfiguration]
        /// Since when nothing is captured, while that is so.
        var freeSince = MediaTime.zero
        /// When the capture state changed, in milliseconds of Unix time: kept, so that it stays when the clock is set.
        var captureSince = UnixTime.milliseconds
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
        /// Annotations logged in the second that began at `annotationSecond`; a client can send thousands.
        var annotations = 0
        var annotationSecond = MediaTime.zero
        /// The broadcast is to end because something failed.
        var hasFailed = false
        var closer: WorkerThread?
        /// Broadcasts since the daemon started.
        var count: UInt64 = 0
        /// How its destinations ended: an operator who looks afterwards sees why.
        var lastDestinations: [DestinationSnapshot] = []
        /// False where the broadcast that a stop ended could not send all that it had encoded.
        var hasDrained = true
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
    let curtain = Curtain()
    let standing: StandingRegions
    let protections: Protections
    let audit: AuditLog
    /// One at a time: whoever is told that it is up can rely on it.
    let raising = Monitor(())
    /// Who is at the other end of the capture socket.
    private let clientActor = Monitor(PrivacyActor.daemon)
    private let freeze: TestFreeze?

    /// - Parameters:
    ///   - environment: where stream keys and logins may stand (`key_env`, `login_env`).
    ///   - audit: nil for none.
    package convenience init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil
    ) {
        let (cap, groups) = (configuration.memory.capBytes, MemoryGroup.own())
        self.init(
            configuration: configuration, environment: environment, server: server, logger: logger, clock: clock,
            audit: audit, memoryRoom: { MemoryRoom.tightest(cap: cap, groups: groups) })
    }

    init(
        configuration: Configuration, environment: [String: String], server: IngestServer, logger: Logger,
        clock: any TimeSource, audit: AuditLog? = nil, memoryRoom: @escaping @Sendable () -> MemoryRoom?
    ) {
        self.memoryRoom = memoryRoom
        self.audit = audit ?? AuditLog.none(clock)
        protections = Protections(off: configuration.privacy.protectionsOff)
        standing = StandingRegions(isOn: configuration.privacy.standingRegions)
        self.configuration = configuration
        self.environment = environment
        self.server = server
        self.logger = logger
        self.clock = clock
        startedAt = clock.now()
        state = Monitor(
            State(destinations: configuration.destinations, freeSince: startedAt, phaseSince: startedAt))
        progress = Monitor(Progress(watch: ProgressWatch(patience: Self.usualPatience), lastLook: startedAt))
        reloading = Monitor(Reload(configuration: configuration))
        // A value that means nothing was refused at the start.
        freeze = try? TestFreeze(environment: environment)
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
    /// encoded. Call after `IngestServer.join`.
    package func shutDown() -> Bool {
        joinCloser()
        return state.withLock { $0.hasDrained }
    }

    private static let annotationsPerSecond = 10
    /// A client that has sent no sample by then is broadcast as background and silence.
    private static let longestSilentStart = MediaTime.seconds(1)

    var current: Broadcast? { state.withLock { $0.broadcast } }

    // MARK: IngestConsumer

    package func started(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError) -> WelcomeMessage {
        joinCloser()
        state.withLock { $0.hasFailed = false }
        if message.tracks.isEmpty || message.tracks.contains(.video) {
            raiseCurtainByItself(.start, reason: "no picture has come yet that may be shown")
        }
        // Held for the broadcast before.
        lowerCurtain(.vanished, reason: "another broadcast begins")
        lowerCurtain(PrivacyHolder(.client), reason: "another broadcast begins")
        clientActor.withLock { $0 = PrivacyActor(user: peer?.userID, process: peer?.processID) }
        try requireDestination(for: message.source)
        let id = broadcastID()
        let broadcast: Broadcast
        do {
            broadcast = try Broadcast(
                message, configuration: currentConfiguration, environment: environment, clock: clock, curtain: curtain,
                standing: standing, protections: protections,
                release: { [weak self] in self?.pictureAllowed(at: $0) }, freeze: freeze,
                onEvent: { [weak self] in self?.destinationChanged($0, $1) },
                onBitrate: { [weak self] in self?.bitrateChanged($0) },
                onFailure: { [weak self] in self?.failed($0) })
        } catch {
            lowerCurtain(.start, reason: "the broadcast could not start")
            logger.error("broadcast not started", metadata: ["why": "\(error.sentence)"])
            throw ProtocolError(.broadcastFailed, fatal: true, "the broadcast cannot start: \(error.sentence)")
        }
        if let problem = broadcast.curtainProblem {
            logger.warning("no picture for the curtain", metadata: ["why": "\(problem)", "now": "it is solid"])
        }
        state.withLock {
            $0.broadcast = broadcast
            $0.captureSince = UnixTime.milliseconds
            $0.isPaused = false
            $0.isHeld = false
            $0.videoRate = RateGauge()
            $0.advice = ClientAdvice()
            $0.governor = MemoryGovernor(steps: broadcast.savings.steps)
        }
        notePhase()
        logger.info(
            "broadcast started",
            metadata: [
                "broadcast": "\(id)", "client": "\(message.clientName)", "source": "\(message.source)",
                "pid": "\(peer.map { String($0.processID) } ?? "unknown")",
            ])
        if let ceiling = state.withLock({ $0.bitrateCeiling }) { broadcast.bitrate.setCeiling(ceiling) }
        // A connection that is refused at once fails before there is a current broadcast that it could end.
        endWithoutDestinations()
        let canvas = configuration.video.canvas
        return WelcomeMessage(
            limits: .default, canvasWidth: canvas.width, canvasHeight: canvas.height, frameRate: canvas.frameRate,
            audioRate: configuration.audio.sampleRate, broadcastID: id,
            sharedMemory: SharedMemoryOffer(
                maxPools: IngestLimits.maxSharedPools, maxPoolBytes: IngestLimits.default.maxSharedPoolBytes))
    }

    /// Where every destination refuses such a source, the client learns it at once. None at all is an operator's wish.
    private func requireDestination(for source: SourceKind) throws(ProtocolError) {
        let all = currentConfiguration.destinations
        let refusing = all.filter { $0.refuses(source) }.map(\.name)
        guard !refusing.isEmpty else { return }
        logger.notice(
            "source refused", metadata: ["source": "\(source)", "by": "\(refusing.joined(separator: ", "))"])
        guard refusing.count == all.count else { return }
        throw ProtocolError(
            .broadcastFailed, fatal: true,
            "the broadcast cannot start: every destination refuses \(source) (destinations[].refuse_sources)")
    }

    package func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool {
        try inlet.beginVideo(message, arrival: arrival)
    }

    package func nextBand() -> IngestBand? { inlet.nextBand() }
    package var bandBuffer: UnsafeMutableRawBufferPointer { unsafe inlet.bandBuffer }
    package func bandArrived() throws(ProtocolError) { try inlet.bandArrived() }
    package func bandArrived(at bytes: UnsafeRawPointer) throws(ProtocolError) {
        try unsafe inlet.bandArrived(at: bytes)
    }
    package func endVideo(arrival: MediaTime) { inlet.endVideo(arrival: arrival) }
    package func cancelVideo() { inlet.cancelVideo() }
    package func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        try inlet.repeatVideo(message, arrival: arrival)
    }

    package func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        throws(ProtocolError) -> UnsafeMutableRawBufferPointer?
    {
        unsafe inlet.beginAudio(source, message, payloadBytes: payloadBytes, arrival: arrival)
    }

    package func endAudio(arrival: MediaTime) { inlet.endAudio(arrival: arrival) }
    package func cancelAudio() { inlet.cancelAudio() }

    package func paused() {
        state.withLock { $0.isPaused = true }
        do throws(CommandRefusal) {
            try raiseCurtain(PrivacyHolder(.client), reason: "the client paused", by: clientActor.withLock { $0 })
        } catch {
            logger.warning("paused without a curtain", metadata: ["why": "\(error.sentence)"])
        }
    }

    package func resumed() {
        state.withLock { $0.isPaused = false }
        lowerCurtain("client", by: clientActor.withLock { $0 }, reason: "the client resumed") { $0.kind == .client }
    }

    package func refusedRegions(_ sentence: String, arrival: MediaTime) {
        inlet.refusedRegions(arrival: arrival)
        raiseCurtainByItself(.badRegions, reason: sentence)
    }

    package func annotated(_ message: AnnotatedMessage) {
        let now = clock.now()
        let count = state.withLock { state in
            if now - state.annotationSecond >= .seconds(1) { (state.annotations, state.annotationSecond) = (0, now) }
            state.annotations += 1
            return state.annotations
        }
        guard count <= Self.annotationsPerSecond else {
            if count == Self.annotationsPerSecond + 1 {
                logger.warning("more annotations than are logged", metadata: ["logged_a_second": "\(count - 1)"])
            }
            return
        }
        logger.info("annotated", metadata: ["key": "\(message.key)", "value": "\(message.value)"])
    }

    package func ended(_ reason: BroadcastEnd) {
        guard let broadcast = current else { return }
        let sentence = Self.sentence(reason)
        switch reason {
        case .clientVanished, .protocolError:
            // Nobody can say any more what of the last pictures was private.
            raiseCurtainByItself(.vanished, reason: sentence)
        case .finished, .daemonStopping, .endedByOperator, .failed: break
        }
        logger.info(
            "broadcast ending",
            metadata: [
                // A failure was logged where it was noticed.
                "why": "\(reason.hasFailed ? "it failed" : sentence)", "now": "what is encoded is sent, then closed",
            ])
        let backlog = broadcast.destinations.snapshots.backlog.duration
        server.notify(StateMessage(.draining, value: UInt32(clamping: backlog.milliseconds), text: sentence))
        do {
            let closer = try WorkerThread(name: "up-close") { [self] in close(broadcast, reason, sentence) }
            state.withLock { $0.closer = closer }
            notePhase()
        } catch {
            // Without a thread to wait on, the ingest thread waits itself; nothing else can be done with its time.
            close(broadcast, reason, sentence)
        }
    }

    /// The ingest thread is the only one that feeds the broadcast, and it does so between `started` and `ended` only.
    private var inlet: CaptureInlet {
        guard let broadcast = current else { preconditionFailure("a sample outside a broadcast") }
        return broadcast.inlet
    }

    // MARK: Ending

    private func close(_ broadcast: Broadcast, _ reason: BroadcastEnd, _ sentence: String) {
        let drained = broadcast.close(deadline: clock.now() + configuration.stop.drain + configuration.buffer.delay)
        let goodbye = broadcast.goodbye(reason, drained: drained, sentence: sentence)
        lowerCurtain("daemon", reason: "the broadcast has ended") { $0.awaitsAPicture }
        logger.info(
            "broadcast ended",
            metadata: [
                "frames": "\(goodbye.framesTaken)", "dropped": "\(goodbye.framesDropped)",
                "duration": "\(clock.now() - broadcast.startedAt)", "sent_all": "\(drained)",
            ])
        let snapshots = broadcast.destinations.snapshots
        let counted = status
        state.withLock {
            $0.broadcast = nil
            $0.freeSince = clock.now()
            $0.captureSince = UnixTime.milliseconds
            $0.totals.note(ended: counted)
            $0.governor = MemoryGovernor(steps: [])
            $0.lastDestinations = snapshots
            // A broadcast that failed is no reason for a daemon that is then stopped to say so; one that was being
            // drained when the stop came is.
            if reason == .daemonStopping || ($0.isStopping && !reason.hasFailed) { $0.hasDrained = drained }
        }
        notePhase()
        ProcessMemory.releaseFreed()
        server.broadcastClosed(goodbye)
    }

    private func joinCloser() {
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

    private static func sentence(_ reason: BroadcastEnd) -> String {
        switch reason {
        case .finished(let message):
            message.text.isEmpty ? "the client finished" : "the client finished: \(message.text)"
        case .clientVanished: "the client's connection went away without finished"
        case .protocolError: "the client broke the protocol"
        case .daemonStopping: "the daemon is stopping"
        case .endedByOperator: "an operator ended the broadcast"
        case .failed(let sentence): sentence
        }
    }

    // MARK: Destinations

    private func destinationChanged(_ name: String, _ event: DestinationEvent) {
        event.log(to: logger, name: name)
        endWithoutDestinations()
        if case .state(.connecting) = event { noteConnecting(name) }
        notePhase()
        let message = state.withLock { state -> StateMessage? in
            guard let broadcast = state.broadcast, state.closer == nil else { return nil }
            return state.advice.look(broadcast.destinations.adviceFigures(at: clock.now()))
        }
        if let message { server.notify(message) }
    }

    /// That packets flow the client learns from `ClientAdvice`.
    private func noteConnecting(_ name: String) {
        let snapshots = current?.destinations.snapshots ?? []
        // One of several that is tried again is no news: the client knows that it is lost.
        guard !snapshots.isPublishing else { return }
        let attempt = snapshots.first { $0.name == name }?.attempt ?? 1
        server.notify(
            StateMessage(
                .connecting, value: UInt32(clamping: attempt), text: "destination \"\(name)\" is being connected"))
    }

    private func bitrateChanged(_ step: BitrateStep) {
        let isFull = step.bitrate == configuration.video.bitrate
        logger.log(
            level: isFull ? .info : .notice, "video bitrate changed",
            metadata: [
                "kbit_s": "\(step.bitrate / 1000)", "why": "\(step.reason)",
                "frames": "\(step.frameRateDivisor == 1 ? "all" : "1 of \(step.frameRateDivisor)")",
            ])
    }

    /// One dead destination costs the others nothing; when none is left there is nothing to broadcast to.
    private func endWithoutDestinations() {
        guard let snapshots = current?.destinations.snapshots, snapshots.noneIsLeft else { return }
        // Each destination has logged its own error.
        failed("no destination is left; \(snapshots.failures)", logged: "no destination is left")
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
        noteHistory()
    }

    private func broadcastID() -> String {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return "\(getpid())-\(number)"
    }
}
