internal import Buffering
internal import Endpoints
internal import Glibc
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// A destination's thread: attempt after attempt, until the broadcast ends or the destination is given up.
///
/// Every attempt begins with a keyframe that was not sent before, and timestamps go on; the encoder notices nothing.
final class PublishingLoop {
    /// How long the reader waits for a packet before it looks after the server; bounds the answer to a ping. What the
    /// link does is measured as often.
    private static let servicePeriod = MediaTime.milliseconds(100)
    /// The same while something from before the curtain is on its way.
    private static let awaitingPeriod = MediaTime.milliseconds(10)
    /// For unpublishing and closing in order, where no stop sets a deadline.
    private static let finishTimeout = MediaTime.seconds(5)

    /// From a failure to the attempt that a change of the network hastens: addresses and routes can change many times a
    /// second without the network having been away.
    private static let networkPause = MediaTime.seconds(1)
    /// Servers that send a publisher to each other must not keep it busy; where media flows, an attempt has no end.
    private static let maximumRedirects = 10

    private let destination: Destination
    private let control: PublishControl
    private let retry: RetrySignal
    private var random = SystemRandomNumberGenerator()
    private var backoff: Backoff
    private var buffer: PacketBuffer
    private var kind: DestinationSettings.Kind
    /// Packets have flowed: what refuses from now on may be passing.
    private var hasWorked = false
    /// The keyframe that was read last on a connection that the server asked to be replaced, still in the buffer.
    private var carried: PacketInfo?
    /// A connection was lost when the broadcast had already ended: what it took along cannot be sent again.
    private var hasLostTheEnd = false
    private var hasTriedSinceStop = false
    /// Bytes of the connections, or files, before the present one.
    private var earlier = (sent: UInt64(0), acknowledged: UInt64(0))
    private let longestOpening: MediaTime
    private let longestTurn: MediaTime
    private var meter: LinkMeter
    private var nextMeasurement = MediaTime.zero
    /// It was said that packets are late.
    private var isCongestionTold = false
    private var acknowledgements: AcknowledgementWatch?
    private var shortConnections = ShortConnections()
    /// The last attempt added to them.
    private var wasShort = false
    /// Since when packets may flow on the present connection.
    private var publishingSince: MediaTime?

    private var clock: any TimeSource { destination.clock }

    init(_ destination: Destination, control: PublishControl, retry: RetrySignal) {
        self.destination = destination
        self.control = control
        self.retry = retry
        backoff = Backoff(destination.settings.reconnect)
        kind = destination.settings.kind
        if case .rtmp(let settings) = kind {
            (longestOpening, longestTurn) = (settings.longestOpening, settings.longestTurn)
        } else {
            (longestOpening, longestTurn) = (.zero, .zero)
        }
        buffer = PacketBuffer(
            limit: destination.settings.maximumPacketBytes + RTMPPublisher.headroom + FLVFileWriter.tailroom,
            tailroom: FLVFileWriter.tailroom)
        meter = LinkMeter(at: destination.clock.now())
    }

    func run() {
        Self.blockBrokenPipeSignal()
        defer { destination.work?.end() }
        while true {
            do {
                try attempt()
                return enter(.stopped)
            } catch {
                // Being cancelled, or out of time while stopping, is what was asked for.
                guard error.kind != .cancelled else { return enter(.stopped) }
                guard let delay = delay(after: error) else { return giveUp(error) }
                guard wait(delay, after: error) else { return enter(.stopped) }
            }
        }
    }

    // MARK: Attempts

    /// From connecting to the end in order; another connection in its place where the server asks for that.
    private func attempt() throws(PublishError) {
        var redirects = 0
        while true {
            switch kind {
            case .rtmp(var settings):
                let wasOverdue = destination.snapshot.lastError?.kind == .acknowledgementTimeout
                destination.work?.end()
                if let read = destination.settings.readSecrets {
                    let files = destination.settings.secretFiles
                    let secrets = try files.isEmpty ? read() : destination.files.read(files, .secret, read)
                    settings.key = secrets.key ?? settings.key
                    settings.credentials = secrets.credentials ?? settings.credentials
                }
                if settings.endpoint.isSecure, !settings.verifiesCertificate {
                    let what = "the server's certificate is NOT verified: whoever is in between can read stream and key"
                    destination.onEvent(.warning("\(destination.title): \(what)"))
                }
                let publisher = RTMPPublisher(
                    settings: settings, format: destination.format, clock: clock, control: control,
                    files: destination.files,
                    onNotice: { [destination] in destination.onEvent(.notice(destination.title + ": " + $0)) })
                var watch = acknowledgements ?? AcknowledgementWatch(window: settings.acknowledgementWindow)
                watch.reconnect(wasOverdue: wasOverdue)
                acknowledgements = watch
                guard let endpoint = try publish(to: publisher) else { return }
                redirects += 1
                guard redirects <= Self.maximumRedirects else {
                    throw PublishError(
                        .protocolViolation, "the server redirected more than \(Self.maximumRedirects) times in a row")
                }
                destination.onEvent(
                    .notice("\(destination.title): going on at \(endpoint), as the server asked"))
                var redirected = settings
                redirected.endpoint = endpoint
                kind = .rtmp(redirected)
            case .flvFile(let settings):
                acknowledgements = nil
                let writer = FLVFileWriter(
                    settings: settings, format: destination.format, clock: clock, control: control)
                _ = try publish(to: writer)
                return
            }
        }
    }

    /// One connection, or one file.
    ///
    /// - Returns: where the server wants the next connection; nil at the end of the broadcast.
    private func publish(to sink: some PublishingSink) throws(PublishError) -> RTMPEndpoint? {
        destination.state.withLock {
            $0.snapshot.attempt = backoff.attempts + 1
            earlier = ($0.snapshot.bytesSent, $0.snapshot.bytesAcknowledged ?? 0)
        }
        enter(.connecting)
        (publishingSince, wasShort, isCongestionTold) = (nil, false, false)
        do {
            destination.work?.begin(allowing: longestOpening)
            try sink.open()
            destination.gate.use(sink.unsent)
            if carried == nil, hasWorked { destination.cursor.restart(counting: .disconnected) }
            publishingSince = clock.now()
            meter = LinkMeter(at: clock.now())
            destination.state.withLock {
                $0.snapshot.connects += 1
                $0.snapshot.link.connection += 1
            }
            enter(.publishing)
            let end = try pump(sink)
            note(sink.progress)
            let deadline = destination.state.withLock { $0.stopDeadline } ?? clock.now() + Self.finishTimeout
            destination.work?.begin(allowing: max(.zero, deadline - clock.now()))
            try awaitWhatWasTakenBack(until: deadline)
            let isConfirmed = try sink.finish(until: deadline)
            let redirect = sink.redirect
            close(sink, inOrder: true)
            if end == .redirected { return redirect }
            destination.state.withLock { $0.snapshot.isDrained = end == .drained && isConfirmed && !hasLostTheEnd }
            return nil
        } catch {
            var error = destination.gate.isCut ? Self.cut : error
            if let publishingSince, !destination.gate.isCut {
                noteEnd(&error, after: clock.now() - publishingSince)
            }
            carried = nil
            // Where a server sent us may be wrong; what the operator said is tried again.
            kind = destination.settings.kind
            hasLostTheEnd = hasLostTheEnd || destination.state.withLock { $0.stopDeadline != nil }
            note(sink.progress)
            close(sink, inOrder: false)
            if let publishingSince, clock.now() - publishingSince >= backoff.policy.healthyAfter { backoff.reset() }
            throw error
        }
    }

    /// Nothing else looks for it while the connection ends in order, which takes as long as the server does.
    private func awaitWhatWasTakenBack(until deadline: MediaTime) throws(PublishError) {
        while destination.gate.isAwaiting, clock.now() < deadline {
            if destination.gate.cutIfLost() { throw Self.cut }
            let next = min(deadline, clock.now() + Self.awaitingPeriod)
            guard case .timeout = control.wait(for: POLLIN, onAnyOf: [], until: next) else { return }
        }
    }

    /// Every connection and file ends here, however it came to that. The curtain reaches it until nothing of it can be
    /// sent any more; only then is it closed, as its descriptor may be another's at once.
    private func close(_ sink: some PublishingSink, inOrder: Bool) {
        destination.gate.release(inOrder: inOrder)
        sink.close()
    }

    /// A server that closes at once what it has just taken says no by that.
    private func noteEnd(_ error: inout PublishError, after lasted: MediaTime) {
        guard lasted < ShortConnections.shortest else { return noteLasting() }
        guard [.closedByServer, .connectionLost].contains(error.kind) else { return }
        if error.isWordless {
            error.detail +=
                ", \(lasted.milliseconds) ms after the stream was accepted: \(PublishError.wordlessCauses)"
        }
        shortConnections.noteShort()
        wasShort = true
        destination.state.withLock { $0.snapshot.shortConnections = shortConnections.count }
    }

    private func noteLasting() {
        guard shortConnections.count > 0 else { return }
        let wasFlapping = shortConnections.isFlapping
        shortConnections.reset()
        destination.state.withLock { $0.snapshot.shortConnections = 0 }
        if wasFlapping { destination.onEvent(.notice("\(destination.title): stays connected again")) }
    }

    private static var cut: PublishError {
        PublishError(
            .connectionLost,
            "the curtain was raised while packets from before were on their way; they were dropped with the connection")
    }

    private enum PumpEnd {
        /// The log has ended and everything in it was written.
        case drained
        /// The stop's deadline has passed, or the broadcast goes on without this destination.
        case cutShort
        /// The server wants another connection; the keyframe that it is to begin with is in the buffer.
        case redirected
    }

    /// Moves packets from the log to the sink.
    private func pump(_ sink: some PublishingSink) throws(PublishError) -> PumpEnd {
        if let info = carried {
            carried = nil
            try write(info, to: sink)
        }
        var isStopping = false
        while true {
            // The thread is well for as long as it keeps its own deadlines.
            destination.work?.begin(allowing: longestTurn)
            let now = clock.now()
            let (isCancelled, isLeaving, stopDeadline) = destination.state.withLock {
                ($0.isCancelled, $0.isLeaving, $0.stopDeadline)
            }
            if isCancelled { throw PublishError(.cancelled, "publishing was cancelled") }
            if isLeaving { return .cutShort }
            if let stopDeadline, now >= stopDeadline { return .cutShort }
            if stopDeadline != nil, !isStopping {
                isStopping = true
                enter(.stopping)
            }
            if destination.gate.cutIfLost() { throw Self.cut }
            let period = destination.gate.isAwaiting ? Self.awaitingPeriod : Self.servicePeriod
            let wait = min(now + period, stopDeadline ?? now + period)
            if try sink.waitForRoom(until: wait) {
                switch destination.cursor.next(into: &buffer, headroom: sink.headroom, until: wait) {
                case .packet(let info, _):
                    if sink.redirect != nil, info.isKeyframe {
                        carried = info
                        return .redirected
                    }
                    try write(info, to: sink)
                case .timeout, .woken: break
                case .ended:
                    if !isStopping { enter(.stopping) }
                    return .drained
                }
            }
            try sink.service()
            try measure(sink)
        }
    }

    private func write(_ info: PacketInfo, to sink: some PublishingSink) throws(PublishError) {
        let byteCount = buffer.byteCount
        let begin = clock.now()
        guard destination.gate.begin(info) else {
            return destination.state.withLock { $0.refused[info.track][.takenBack] += 1 }
        }
        defer { destination.gate.end() }
        try sink.write(info, &buffer)
        hasWorked = true
        destination.state.withLock { state in
            // Repeats of a screen that stands still have not arrived from anywhere.
            if info.track == .video, info.arrival > .zero { state.latency.note(begin - info.arrival) }
            switch info.track {
            case .video: state.snapshot.video.add(byteCount)
            case .audio: state.snapshot.audio.add(byteCount)
            }
        }
    }

    // MARK: What the link does

    /// Looks at what has reached the other side, and gives up a connection on which nothing does.
    private func measure(_ sink: some PublishingSink) throws(PublishError) {
        let now = clock.now()
        guard now >= nextMeasurement else { return }
        nextMeasurement = now + Self.servicePeriod
        if let publishingSince, now - publishingSince >= ShortConnections.shortest { noteLasting() }
        let progress = sink.progress
        let backlog = destination.cursor.backlog.duration
        meter.note(
            sent: progress.bytesSent, outstanding: progress.outstandingBytes, roundTrip: progress.roundTrip,
            backlog: backlog, at: now)
        note(progress)
        guard case .rtmp(let settings) = kind else { return }
        let stalled = meter.stalled(at: now)
        if stalled >= settings.sendTimeout {
            throw PublishError(.sendTimeout, "the server took no byte for \(stalled)")
        }
        let overdue =
            acknowledgements?.note(delivered: meter.delivered, acknowledged: progress.bytesAcknowledged, at: now)
            ?? .zero
        if overdue >= settings.acknowledgementTimeout {
            throw PublishError(
                .acknowledgementTimeout,
                "the server takes data but has acknowledged none of it for \(overdue): it hangs")
        }
        let shed = destination.cursor.drops
        let link = destination.state.withLock { state in
            state.snapshot.link.time = now
            state.snapshot.link.isPublishing = true
            state.snapshot.link.lag = backlog + meter.socketLag(at: now)
            state.snapshot.link.unacknowledged = overdue
            state.snapshot.link.noteLateness(meter.lateness(behind: backlog, at: now), at: now)
            state.snapshot.link.deliveredBytes = meter.delivered
            state.snapshot.link.outstandingBytes = meter.outstanding
            state.snapshot.link.shedPackets = shed.video.late + shed.video.disposable + shed.audio.late
            return state.snapshot.link
        }
        tellCongestion(link)
    }

    private func tellCongestion(_ link: LinkReport) {
        guard link.isCongestionNews(isTold: isCongestionTold) else { return }
        isCongestionTold.toggle()
        let what = isCongestionTold ? "packets are \(link.lateness.milliseconds) ms late" : "packets are on time again"
        destination.onEvent(.notice("\(destination.title): \(what)"))
    }

    private func note(_ progress: SinkProgress) {
        destination.state.withLock { state in
            state.snapshot.location = progress.location
            // A sink that has been closed knows nothing any more.
            state.snapshot.bytesSent = max(state.snapshot.bytesSent, earlier.sent + progress.bytesSent)
            if let acknowledged = progress.bytesAcknowledged {
                state.snapshot.bytesAcknowledged = earlier.acknowledged + acknowledged
            }
            state.snapshot.tlsProtocol = progress.tlsProtocol
        }
    }

    // MARK: Between attempts

    /// How long to wait before the next attempt; nil where there is to be none.
    private func delay(after error: PublishError) -> MediaTime? {
        guard !error.isFinal(hasWorked: hasWorked || destination.settings.hasWorked) else { return nil }
        return backoff.next(using: &random)
    }

    /// Tells of the failure and waits; false where there is nothing to try again for.
    private func wait(_ delay: MediaTime, after error: PublishError) -> Bool {
        // Whoever has removed it wants to hear no more of it.
        if destination.state.withLock({ $0.isCancelled || $0.isLeaving }) { return false }
        // What was said while there was a connection was not meant for this pause.
        _ = retry.take()
        let begin = clock.now()
        var next = begin + delay
        let told = told(error, "trying again in \(delay)")
        destination.state.withLock { $0.snapshot.nextAttempt = next }
        enter(.reconnecting)
        destination.onEvent(.retrying(told, attempt: backoff.attempts, after: delay))
        if wasShort, shortConnections.isNews {
            destination.onEvent(.flapping(told, connections: shortConnections.count))
        }
        defer { destination.state.withLock { $0.snapshot.nextAttempt = nil } }
        while true {
            let (isOver, isStopping) = destination.state.withLock {
                ($0.isCancelled || $0.isLeaving, $0.stopDeadline != nil)
            }
            if isOver { return false }
            // A stop is a reason to try at once; where that fails, the next attempt has its pause again.
            if isStopping, !hasTriedSinceStop {
                hasTriedSinceStop = true
                return true
            }
            destination.work?.end()
            let readiness = control.wait(for: POLLIN, on: retry.descriptor, until: next)
            destination.work?.begin()
            switch readiness {
            case .timeout: return true
            case .cancelled: return false
            case .ready: break
            }
            switch retry.take() {
            case .asked where !isStopping && destination.state.withLock({ $0.stopDeadline == nil }):
                destination.onEvent(.notice("\(destination.title): trying again now, as asked"))
                return true
            case .network where next > begin + Self.networkPause:
                next = begin + Self.networkPause
                destination.state.withLock { $0.snapshot.nextAttempt = next }
                destination.onEvent(
                    .notice("\(destination.title): trying again soon, because the machine's network has changed"))
            case .asked, .network, nil: break
            }
        }
    }

    private func giveUp(_ error: PublishError) {
        // The cause first: what others conclude from the state comes after it.
        destination.onEvent(.failed(told(error, "nothing more is published there")))
        enter(.failed)
    }

    private func told(_ error: PublishError, _ consequence: String) -> PublishError {
        var error = error
        error.destination = destination.title
        error.consequence = consequence
        destination.state.withLock {
            $0.snapshot.lastError = error
            $0.snapshot.lastErrorAt = clock.now()
            $0.snapshot.failures[error.kind, default: 0] += 1
        }
        return error
    }

    private func enter(_ new: DestinationState) {
        destination.state.withLock { state in
            state.snapshot.state = new
            state.snapshot.since = clock.now()
            if new != .publishing, new != .stopping {
                state.snapshot.link.isPublishing = false
                state.snapshot.link.congestedSince = nil
            }
        }
        destination.onEvent(.state(new))
    }

    /// A pipe that nobody reads any more must be an error here, not the process's end.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
