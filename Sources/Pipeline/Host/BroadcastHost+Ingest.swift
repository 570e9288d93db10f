internal import Buffering
internal import Configuration
package import Ingest
package import IngestProtocol
package import LinuxSystem
internal import Logging
internal import MediaCore
internal import Privacy

/// Annotations that are logged in a second; a client can send thousands.
private let annotationsPerSecond = 10

/// A client's broadcast begins, pauses and ends, as the ingest thread says.
extension BroadcastHost: IngestHost {
    package func begin(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError)
        -> (welcome: WelcomeMessage, sink: any SampleSink)
    {
        joinCloser()
        let id = beginBroadcast()
        var hasStarted = false
        defer {
            if !hasStarted {
                lowerCurtain(.start, reason: "the broadcast could not start")
                state.withLock { $0.running = nil }
                captureEnds()
            }
        }
        if message.tracks.isEmpty || message.tracks.contains(.video) {
            raiseCurtainByItself(.start, reason: "no picture has come yet that may be shown")
        }
        // Holds of the previous broadcast.
        lowerCurtain(.vanished, reason: "another broadcast begins")
        lowerCurtain(PrivacyHolder(.client), reason: "another broadcast begins")
        clientActor.withLock {
            $0 = PrivacyActor(.client, user: peer?.userID, process: peer?.processID)
        }
        try requireDestination(for: message.source)
        // As early as it is certain, so that whoever has to hide something has time while the encoders are opened.
        captureBegins(message)
        state.withLock { $0.count += 1 }
        let broadcast: Broadcast
        do {
            broadcast = try Broadcast(
                message, configuration: currentConfiguration, environment: environment,
                worked: state.withLock { $0.worked }, clock: clock, curtain: curtain,
                standing: standing, protections: protections,
                release: { [weak self] in self?.pictureAllowed(at: $0) },
                refuse: { [weak self] in self?.regionsRefused($0) }, freeze: freeze,
                onEvent: { [weak self] in self?.destinationChanged($0, $1) },
                onBitrate: { [weak self] in self?.bitrateChanged($0) },
                onEffort: { [weak self] in self?.effortChanged($0) },
                onFailure: { [weak self] in self?.failed($0) })
        } catch {
            logger.error("broadcast not started", metadata: ["why": "\(error.sentence)"])
            throw ProtocolError(.broadcastFailed, fatal: true, "the broadcast cannot start: \(error.sentence)")
        }
        if let price = currentConfiguration.memoryPlan(broadcast.savings.fit).price {
            logger.warning("no room for subpixel motion", metadata: ["why": "what moves \(price)"])
        }
        if let problem = broadcast.curtainProblem {
            logger.warning("no picture for the curtain", metadata: ["why": "\(problem)", "now": "it is solid"])
        }
        hasStarted = true
        raising.withLock { _ in
            state.withLock { $0.broadcast = broadcast }
            broadcast.takeBackWhatWasMissed()
        }
        state.withLock {
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
        // Somebody may hold it up since before.
        server.curtainChanged()
        let canvas = configuration.video.canvas
        let welcome = WelcomeMessage(
            limits: .default, canvasWidth: canvas.width, canvasHeight: canvas.height, frameRate: canvas.frameRate,
            audioRate: configuration.audio.sampleRate, broadcastID: id,
            sharedMemory: SharedMemoryOffer(
                maxPools: IngestLimits.maxSharedPools, maxPoolBytes: IngestLimits.default.maxSharedPoolBytes),
            takesDamage: configuration.video.scaler != .libyuv)
        return (welcome, broadcast.inlet)
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
        lowerCurtain(by: clientActor.withLock { $0 }, reason: "the client resumed") {
            $0.kind == .client
        }
    }

    /// A picture came whose regions were not understood.
    func regionsRefused(_ sentence: String) { raiseCurtainByItself(.badRegions, reason: sentence) }

    package func annotated(_ message: AnnotatedMessage) {
        let now = clock.now()
        let count = state.withLock { state in
            if now - state.annotationSecond >= .seconds(1) { (state.annotations, state.annotationSecond) = (0, now) }
            state.annotations += 1
            return state.annotations
        }
        guard count <= annotationsPerSecond else {
            if count == annotationsPerSecond + 1 {
                logger.warning(
                    "more annotations than are logged", metadata: ["logged_a_second": "\(count - 1)"])
            }
            return
        }
        logger.info("annotated", metadata: ["key": "\(message.key)", "value": "\(message.value)"])
    }

    package func ended(_ reason: BroadcastEnd) {
        guard let broadcast = current else { return }
        broadcast.inlet.dropKept()
        let sentence = reason.sentence
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
}

extension BroadcastEnd {
    /// For people.
    fileprivate var sentence: String {
        switch self {
        case .finished(let message):
            message.text.isEmpty ? "the client finished" : "the client finished: \(message.text)"
        case .clientVanished: "the client's connection went away without finished"
        case .protocolError: "the client broke the protocol"
        case .daemonStopping: "the daemon is stopping"
        case .endedByOperator: "an operator ended the broadcast"
        case .failed(let sentence): sentence
        }
    }
}
