internal import Glibc
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// The body of a destination's thread: it makes attempts until the broadcast ends or the destination is given up. It is
/// the same for all kinds of sinks.
///
/// Each attempt begins with a keyframe that was not sent before, and timestamps continue. The encoder is not affected.
final class PublishingLoop {
    /// The time to end the stream if no stop sets a deadline.
    private static let finishTimeout = MediaTime.seconds(5)

    private let destination: Destination
    private let sinks: any SinkFactory
    private let schedule: AttemptSchedule
    private let record: ConnectionRecord
    private let pump: PacketPump
    /// Whether a connection was lost after the broadcast ended. Its packets cannot be sent again.
    private var hasLostTheEnd = false

    init(_ destination: Destination, sinks: any SinkFactory, control: PublishControl, retry: RetrySignal) {
        self.destination = destination
        self.sinks = sinks
        schedule = AttemptSchedule(destination, control: control, retry: retry)
        record = ConnectionRecord(destination)
        pump = PacketPump(destination, control: control, record: record)
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
                guard error.cause != .cancelled, !isUnwanted else { return destination.enter(.stopped) }
                pump.abandon()
                sinks.attemptFailed(error)
                let hasWorked = pump.hasWorked || destination.settings.hasWorked
                guard let delay = schedule.delay(after: error, hasWorked: hasWorked) else { return giveUp(error) }
                guard schedule.wait(delay, after: error, flapping: record.shortConnectionsToTell) else {
                    return destination.enter(.stopped)
                }
            }
        }
    }

    /// Whether the destination is removed or cancelled: it reports nothing more.
    private var isUnwanted: Bool { destination.state.withLock { $0.isCancelled || $0.isLeaving } }

    private func giveUp(_ error: PublishError) {
        // Report the cause before the state, because receivers act on the state.
        destination.onEvent(.failed(destination.noted(error, "nothing more is published there")))
        destination.enter(.failed)
    }

    /// Publishes until the end, over further connections if the other side asks for them.
    private func attempt() throws(PublishError) {
        repeat {
            destination.work?.end()
            record.begin()
        } while try publish(to: sinks.makeSink()) == .replaced
    }

    /// Publishes over one connection, or into one file.
    private func publish(to sink: any PublishingSink) throws(PublishError) -> PacketPump.End {
        destination.state.withLock { $0.snapshot.attempt = schedule.attempt }
        destination.enter(.connecting)
        do {
            destination.work?.begin(allowing: destination.longestWaits.opening)
            try sink.open()
            destination.gate.use(sink.unsent)
            pump.begin()
            record.noteReady()
            destination.enter(.publishing)
            let end = try pumpUntilTheEnd(sink)
            record.note(sink.progress)
            let doubt = try finish(sink, after: end)
            close(sink, inOrder: true)
            if let doubt { tell(doubt) }
            if end == .drained {
                destination.state.withLock { $0.snapshot.isDrained = doubt == nil && !hasLostTheEnd }
            }
            return end
        } catch {
            let isCut = destination.gate.isCut
            var error = isCut ? PublishError.cutByCurtain : error
            if !isCut { record.noteEnd(&error) }
            hasLostTheEnd = hasLostTheEnd || destination.state.withLock { $0.stopDeadline != nil }
            record.note(sink.progress)
            close(sink, inOrder: false)
            if let age = record.age { schedule.noteConnection(lasting: age) }
            throw error
        }
    }

    /// Writes packets until the connection is to end. The deadline of a stop, which ends all waits, cuts it short.
    private func pumpUntilTheEnd(_ sink: any PublishingSink) throws(PublishError) -> PacketPump.End {
        do throws(PublishError) {
            return try pump.run(sink)
        } catch {
            guard error.cause == .cancelled, !destination.state.withLock({ $0.isCancelled }) else { throw error }
            return .cutShort
        }
    }

    /// Ends the stream. No other connection or file could make up for an error, because nothing is left to be sent.
    ///
    /// - Returns: why the other side may not have all of the broadcast; nil if it has confirmed that, if the broadcast
    ///   goes on there, or if the destination is leaving.
    private func finish(_ sink: any PublishingSink, after end: PacketPump.End) throws(PublishError) -> PublishError? {
        let doubt = try finish(sink)
        let (isLeaving, isStopping) = destination.state.withLock { ($0.isLeaving, $0.stopDeadline != nil) }
        guard !isLeaving else { return nil }
        switch end {
        case .drained: return doubt
        case .cutShort: return PublishError(.sendTimeout, "the rest was not sent in time")
        case .replaced:
            guard isStopping, let doubt else { return nil }
            hasLostTheEnd = true
            return doubt
        }
    }

    private func finish(_ sink: any PublishingSink) throws(PublishError) -> PublishError? {
        let now = destination.clock.now()
        let deadline = destination.state.withLock { $0.stopDeadline } ?? now + Self.finishTimeout
        destination.work?.begin(allowing: max(.zero, deadline - now))
        do throws(PublishError) {
            try pump.awaitWhatWasTakenBack(until: deadline)
            let doubt = try sink.finish(until: deadline, isCut: destination.gate.cutIfLost)
            return destination.gate.isCut ? doubt.map { _ in .cutByCurtain } : doubt
        } catch {
            if destination.gate.isCut { return .cutByCurtain }
            guard error.cause == .cancelled else { return error }
            guard !destination.state.withLock({ $0.isCancelled }) else { throw error }
            return PublishError(.sendTimeout, "the server has not taken the end of the stream in time")
        }
    }

    /// Reports why the end may be missing on the other side.
    private func tell(_ doubt: PublishError) {
        destination.onEvent(.warning(destination.noted(doubt, "the end may be missing there").description))
    }

    /// Every connection and file ends here. Until then, the curtain can discard its bytes. The descriptor is closed
    /// only when no byte can be sent any more, because another file may get its number at once.
    private func close(_ sink: any PublishingSink, inOrder: Bool) {
        destination.gate.release(inOrder: inOrder)
        sink.close()
    }

    /// Makes a write to a pipe without a reader an error. SIGPIPE would end the process.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
