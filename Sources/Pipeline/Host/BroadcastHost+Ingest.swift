internal import Adaptation
internal import Buffering
internal import Configuration
internal import ControlProtocol
internal import Glibc
package import Ingest
package import IngestProtocol
package import LinuxSystem
internal import Logging
internal import MediaCore
internal import Privacy

/// The start, the pauses and the end of a client's broadcast. Ingest thread only.
extension BroadcastHost: IngestHost {
    package func begin(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError)
        -> (welcome: WelcomeMessage, sink: any SampleSink)
    {
        joinCloser()
        let number = current.state.withLock { state in
            state.lifecycle = .starting(.init(number: state.count + 1))
            return state.count + 1
        }
        destinations.beginNext()
        operating.beginNext()
        var hasStarted = false
        defer {
            if !hasStarted {
                destinations.endOpening()
                privacy.lower(.start, reason: "the broadcast could not start")
                current.state.withLock { $0.lifecycle = .idle(closer: nil) }
                privacy.captureEnds()
            }
        }
        if message.tracks.isEmpty || message.tracks.contains(.video) {
            privacy.raiseByItself(.start, reason: "no picture has come yet that may be shown")
        }
        // Releases the holds of the previous broadcast.
        privacy.lower(.vanished, reason: "another broadcast begins")
        privacy.lower(PrivacyHolder(.client), reason: "another broadcast begins")
        try destinations.require(accepting: message.source)
        // Called as soon as the broadcast is certain, so that apps can hide something while the encoders are opened.
        privacy.captureBegins(source: "\(message.source)", client: message.clientName)
        current.state.withLock { $0.count += 1 }
        let opened = configuration
        let broadcast = try opener.open(message)
        let run = Lifecycle.Run(
            number: number, broadcast: broadcast,
            memory: MemoryWatch(broadcast, room: memoryRoom, clock: clock, logger: logger),
            advisor: ClientAdvisor(
                broadcast, maxFrameRate: configuration.video.frameRate.framesPerSecond, clock: clock,
                notify: { [server] in server.notify($0) }),
            client: PrivacyActor(.client, user: peer?.userID, process: peer?.processID))
        hasStarted = true
        privacy.whileCurtainStands {
            current.state.withLock { $0.lifecycle.begin(run) }
            broadcast.takeBackWhatWasMissed()
        }
        // A reload or a command may have come while the broadcast opened.
        broadcast.apply(configuration, since: opened)
        destinations.endOpening(broadcast.destinations, of: broadcast.started.source)
        phase.note()
        let id = "\(getpid())-\(number)"
        logger.tell(
            .broadcastStarted(
                broadcast: id, client: message.clientName, source: message.source,
                process: peer.map { Int($0.processID) }))
        if let ceiling = operating.bitrateCeiling { broadcast.bitrate.setCeiling(ceiling) }
        // A destination can fail before the broadcast is current. It could not end the broadcast then.
        watch.endWithoutDestinations()
        // The curtain may already be up.
        server.curtainChanged()
        return (configuration.welcome(broadcastID: id), broadcast.inlet)
    }

    package func paused() {
        let client = current.state.withLock { state in
            state.lifecycle.update { running in
                running.isPausedByClient = true
                return running.run.client
            }
        }
        do throws(CommandRefusal) {
            try privacy.raise(PrivacyHolder(.client), reason: "the client paused", by: client ?? .daemon)
        } catch {
            logger.tell(.pausedWithoutACurtain(why: error.sentence))
        }
    }

    package func resumed() {
        let client = current.state.withLock { state in
            state.lifecycle.update { running in
                running.isPausedByClient = false
                return running.run.client
            }
        }
        privacy.lower(by: client ?? .daemon, reason: "the client resumed") { $0.kind == .client }
    }

    package func annotated(_ message: AnnotatedMessage) { annotations.note(message) }

    package var curtainObjections: UInt32 { privacy.curtain.objections }

    package func curtainState() -> StateMessage { privacy.curtain.stateMessage }

    package func ended(_ reason: BroadcastEnd) {
        guard let run = current.run else { return }
        let broadcast = run.broadcast
        broadcast.inlet.dropKept()
        let sentence = reason.sentence
        switch reason {
        case .clientVanished, .protocolError:
            // It is unknown whether the last pictures were private.
            privacy.raiseByItself(.vanished, reason: sentence)
        case .finished, .daemonStopping, .endedByOperator, .failed: break
        }
        // The failure itself has been logged where it happened.
        logger.tell(.broadcastEnding(why: reason.hasFailed ? "it failed" : sentence))
        let backlog = broadcast.destinations.snapshots.backlog.duration
        server.notify(StateMessage(.draining, value: UInt32(clamping: backlog.milliseconds), text: sentence))
        current.state.withLock { $0.lifecycle = .closing(run, closer: nil) }
        do {
            let closer = try WorkerThread(name: "up-close") { [self] in close(run, reason, sentence) }
            current.state.withLock { $0.lifecycle.note(closer: closer) }
            phase.note()
        } catch {
            // Without a thread, the ingest thread closes the broadcast itself. It has nothing else to do.
            close(run, reason, sentence)
        }
    }
}
