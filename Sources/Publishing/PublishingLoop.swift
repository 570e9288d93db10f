internal import Buffering
internal import Endpoints
internal import Glibc
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// The body of a destination's thread: it makes attempts until the broadcast ends or the destination is given up. It is
/// the same for all kinds of sinks.
///
/// Each attempt begins with a keyframe that was not sent before, and timestamps continue. The encoder is not affected.
final class PublishingLoop {
    /// The longest wait for a packet before the sink is serviced, which bounds the answer to a ping. Also the period of
    /// link measurements.
    private static let servicePeriod = MediaTime.milliseconds(100)
    /// The service period while packets from before the curtain are on their way.
    private static let awaitingPeriod = MediaTime.milliseconds(10)
    /// The time to end the stream if no stop sets a deadline.
    private static let finishTimeout = MediaTime.seconds(5)

    private let destination: Destination
    private let sinks: any SinkFactory
    private let control: PublishControl
    private let schedule: AttemptSchedule
    private var buffer: PacketBuffer
    /// Whether packets have flowed. Then later refusals may be temporary.
    private var hasWorked = false
    /// The keyframe that was read before the connection was replaced. Its payload is in the buffer.
    private var carried: PacketInfo?
    /// Whether a connection was lost after the broadcast ended. Its packets cannot be sent again.
    private var hasLostTheEnd = false
    /// Bytes of the connections or files before the current one.
    private var earlier = (sent: UInt64(0), acknowledged: UInt64(0))
    private var nextMeasurement = MediaTime.zero
    /// Whether it was reported that packets are late.
    private var isCongestionTold = false
    private var shortConnections = ShortConnections()
    /// Whether the last attempt added a short connection.
    private var wasShort = false
    /// When the current connection was ready for packets; nil before.
    private var publishingSince: MediaTime?

    private var clock: any TimeSource { destination.clock }

    init(_ destination: Destination, sinks: any SinkFactory, control: PublishControl, retry: RetrySignal) {
        self.destination = destination
        self.sinks = sinks
        self.control = control
        schedule = AttemptSchedule(destination, control: control, retry: retry)
        let facts = destination.facts
        buffer = PacketBuffer(
            limit: destination.settings.maximumPacketBytes + facts.headroom + facts.tailroom, tailroom: facts.tailroom)
    }

    func run() {
        Self.blockBrokenPipeSignal()
        defer { destination.work?.end() }
        while true {
            do {
                try attempt()
                return destination.enter(.stopped)
            } catch {
                // A cancellation, or a deadline that passed during a stop, is not an error.
                guard error.kind != .cancelled else { return destination.enter(.stopped) }
                sinks.attemptFailed(error)
                let hasWorked = hasWorked || destination.settings.hasWorked
                guard let delay = schedule.delay(after: error, hasWorked: hasWorked) else { return giveUp(error) }
                let flapping = wasShort && shortConnections.isNews ? shortConnections.count : nil
                guard schedule.wait(delay, after: error, flapping: flapping) else { return destination.enter(.stopped) }
            }
        }
    }

    private func giveUp(_ error: PublishError) {
        // Report the cause before the state, because receivers act on the state.
        destination.onEvent(.failed(destination.noted(error, "nothing more is published there")))
        destination.enter(.failed)
    }

    // MARK: Attempts

    private enum AttemptEnd {
        /// The log has ended, and all of it was written.
        case drained
        /// The stop's deadline passed, or the destination leaves a broadcast that continues.
        case cutShort
        /// The other side wants another connection. Its first keyframe is in the buffer.
        case replaced
    }

    /// Publishes until the end, over further connections if the other side asks for them.
    private func attempt() throws(PublishError) {
        repeat { destination.work?.end() } while try publish(to: sinks.makeSink()) == .replaced
    }

    /// Publishes over one connection, or into one file.
    private func publish(to sink: any PublishingSink) throws(PublishError) -> AttemptEnd {
        destination.state.withLock {
            $0.snapshot.attempt = schedule.attempt
            earlier = ($0.snapshot.bytesSent, $0.snapshot.bytesAcknowledged ?? 0)
        }
        destination.enter(.connecting)
        (publishingSince, wasShort, isCongestionTold) = (nil, false, false)
        do {
            destination.work?.begin(allowing: destination.longestWaits.opening)
            try sink.open()
            destination.gate.use(sink.unsent)
            if carried == nil, hasWorked { destination.cursor.restart(counting: .disconnected) }
            publishingSince = clock.now()
            destination.noteConnection()
            destination.enter(.publishing)
            let end = try pump(sink)
            destination.note(sink.progress, after: earlier)
            let deadline = destination.state.withLock { $0.stopDeadline } ?? clock.now() + Self.finishTimeout
            destination.work?.begin(allowing: max(.zero, deadline - clock.now()))
            try awaitWhatWasTakenBack(until: deadline)
            let isConfirmed = try sink.finish(until: deadline)
            close(sink, inOrder: true)
            if end != .replaced {
                destination.state.withLock {
                    $0.snapshot.isDrained = end == .drained && isConfirmed && !hasLostTheEnd
                }
            }
            return end
        } catch {
            var error = destination.gate.isCut ? Self.cut : error
            if let publishingSince, !destination.gate.isCut {
                noteEnd(&error, after: clock.now() - publishingSince)
            }
            carried = nil
            hasLostTheEnd = hasLostTheEnd || destination.state.withLock { $0.stopDeadline != nil }
            destination.note(sink.progress, after: earlier)
            close(sink, inOrder: false)
            if let publishingSince { schedule.noteConnection(lasting: clock.now() - publishingSince) }
            throw error
        }
    }

    /// Watches bytes from before the curtain until they have arrived. The packet loop does not run while the connection
    /// ends, and the other side can delay that end.
    private func awaitWhatWasTakenBack(until deadline: MediaTime) throws(PublishError) {
        while destination.gate.isAwaiting, clock.now() < deadline {
            if destination.gate.cutIfLost() { throw Self.cut }
            let next = min(deadline, clock.now() + Self.awaitingPeriod)
            guard case .timeout = control.wait(for: POLLIN, onAnyOf: [], until: next) else { return }
        }
    }

    /// Every connection and file ends here. Until then, the curtain can discard its bytes. The descriptor is closed
    /// only when no byte can be sent any more, because another file may get its number at once.
    private func close(_ sink: any PublishingSink, inOrder: Bool) {
        destination.gate.release(inOrder: inOrder)
        sink.close()
    }

    private static var cut: PublishError {
        PublishError(
            .connectionLost,
            "the curtain was raised while packets from before were on their way; they were dropped with the connection")
    }

    // MARK: Connections that do not last

    /// Counts a connection that ended within a second. A server refuses publishers in this way, too.
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
        // The next packet ends the outage.
        destination.state.withLock { $0.snapshot.shortConnections = 0 }
        if wasFlapping { destination.notice("stays connected again") }
    }

    // MARK: Packets

    private func pump(_ sink: any PublishingSink) throws(PublishError) -> AttemptEnd {
        if let info = carried {
            carried = nil
            try write(info, to: sink)
        }
        var isStopping = false
        // A sink whose writes wait knows by itself what they have lost.
        var standstill = Standstill(now: clock.now(), longestTurn: nil)
        while true {
            // Each turn must end within the longest waits of the sink.
            destination.work?.begin(allowing: destination.longestWaits.turn)
            let now = clock.now()
            let (isCancelled, isLeaving, stopDeadline) = destination.state.withLock {
                ($0.isCancelled, $0.isLeaving, $0.stopDeadline)
            }
            if isCancelled { throw PublishError(.cancelled, "publishing was cancelled") }
            if isLeaving { return .cutShort }
            if let stopDeadline, now >= stopDeadline { return .cutShort }
            if stopDeadline != nil, !isStopping {
                isStopping = true
                destination.enter(.stopping)
            }
            if destination.gate.cutIfLost() { throw Self.cut }
            let period = destination.gate.isAwaiting ? Self.awaitingPeriod : Self.servicePeriod
            let wait = min(now + period, stopDeadline ?? now + period)
            var next = CursorResult.timeout
            if try sink.waitForRoom(until: wait) {
                next = destination.cursor.next(into: &buffer, headroom: destination.facts.headroom, until: wait)
            }
            let lost = standstill.wake(began: now, now: clock.now(), limit: wait - now)
            if lost > .zero { sink.forgive(lost) }
            switch next {
            case .packet(let info, _):
                if sink.wantsReplacement, info.isKeyframe {
                    carried = info
                    return .replaced
                }
                try write(info, to: sink)
            case .timeout, .woken: break
            case .ended:
                if !isStopping { destination.enter(.stopping) }
                return .drained
            }
            try sink.service()
            try measure(sink)
        }
    }

    private func write(_ info: PacketInfo, to sink: any PublishingSink) throws(PublishError) {
        let byteCount = buffer.byteCount
        let begin = clock.now()
        guard destination.gate.begin(info) else {
            return destination.state.withLock { $0.refused[info.track][.takenBack] += 1 }
        }
        defer { destination.gate.end() }
        try sink.write(info, &buffer)
        hasWorked = true
        destination.noteSent(info, byteCount: byteCount, at: begin)
    }

    /// Records what has reached the other side.
    private func measure(_ sink: any PublishingSink) throws(PublishError) {
        let now = clock.now()
        guard now >= nextMeasurement else { return }
        nextMeasurement = now + Self.servicePeriod
        if let publishingSince, now - publishingSince >= ShortConnections.shortest { noteLasting() }
        destination.note(sink.progress, after: earlier)
        guard let measurement = try sink.measure(backlog: destination.cursor.backlog.duration) else { return }
        let link = destination.note(measurement, at: now)
        guard link.isCongestionNews(isTold: isCongestionTold) else { return }
        isCongestionTold.toggle()
        destination.notice(
            isCongestionTold ? "packets are \(link.lateness) late" : "packets are on time again")
    }

    /// Makes a write to a pipe without a reader an error. SIGPIPE would end the process.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
