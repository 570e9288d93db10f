internal import MediaCore

/// Decides what to believe of the capture state, and what to do next to find out. Pure: events and times come in, a
/// step comes out.
///
/// "Not captured" is believed in three cases only, and only for `silence` unless it is said or seen again. The daemon
/// has said so on a connection that is open and not silent. Or nobody listens at the socket. Or the process that has
/// spoken for the daemon has ended, and after that the socket's path is missing.
struct CaptureWatch {
    /// Limits on how long something is believed, and how often the daemon is asked.
    struct Limits: Equatable, Sendable {
        /// How long a silent daemon is believed. It sends something every second.
        var silence = MediaTime.seconds(3)
        /// How long to wait for the first event before asking again.
        var answer = MediaTime.seconds(10)
        /// The pause between two attempts to connect: the first one, and the longest after doubling.
        var firstPause = MediaTime.milliseconds(20)
        var longestPause = MediaTime.milliseconds(250)
    }

    enum Event: Equatable, Sendable {
        /// A connection is open, and the question is sent.
        case connected
        /// An event of the open connection, with its number there.
        case told(CaptureState, number: Int)
        /// A sign of life on the open connection.
        case heartbeat
        /// The other side has ended the connection.
        case hungUp
        /// The answer or event was not understood, or is a refusal.
        case notUnderstood
        /// The process at the other end of the last connection has ended, and so has that connection.
        case processEnded
        /// Connecting failed: nobody has the socket open.
        case nobodyListens
        /// Connecting failed: the socket's path is missing.
        case noSocket
        /// Connecting failed in another way.
        case notConnected
    }

    /// What the owner of the connection has to do.
    enum Step: Equatable, Sendable {
        case wait
        case connect
        /// Close the connection, if there is one.
        case drop
    }

    private enum Phase: Equatable {
        /// No connection. The time of the next attempt.
        case apart(next: MediaTime)
        /// Connected, but nothing was said yet. The time to give up.
        case asked(giveUp: MediaTime)
        /// The last event's number, and until when it is believed.
        case told(number: Int, until: MediaTime)
    }

    private let limits: Limits
    private var phase: Phase
    private var attempts = 0
    private var believed = CaptureState.unknown
    private var believedUntil = MediaTime.zero
    /// The connection that has ended had spoken for the daemon, and no other process has been seen since. So if its
    /// process has ended, too, the daemon has ended.
    private var awaitsEnd = false
    /// That process has ended.
    private var hasEnded = false

    init(_ limits: Limits, at now: MediaTime) {
        self.limits = limits
        phase = .apart(next: now)
    }

    /// The state that is known at `now`, even if nobody has called `handle` or `step` for a while.
    func state(at now: MediaTime) -> CaptureState { now < believedUntil ? believed : .unknown }

    /// When to call `step` again, if no event comes before.
    var deadline: MediaTime {
        switch phase {
        case .apart(let next): next
        case .asked(let giveUp): giveUp
        case .told(_, let until): until
        }
    }

    /// Call this before handling a new event. It rejects events that waited while the daemon was silent for too long,
    /// or while this process stood still.
    mutating func step(at now: MediaTime) -> Step {
        guard now >= deadline else { return .wait }
        guard case .apart = phase else { return handle(.notUnderstood, at: now) }
        return .connect
    }

    mutating func handle(_ event: Event, at now: MediaTime) -> Step {
        switch event {
        case .connected:
            // Some process is there. It is not known yet which one, and what has begun since.
            doubtAll()
            phase = .asked(giveUp: now + limits.answer)
        case .told(let state, let number):
            let expected: Int
            switch phase {
            case .apart: return .drop
            case .asked: expected = 1
            case .told(let last, _): expected = last + 1
            }
            // A missing or repeated event could be the one that counts.
            guard number == expected else { return handle(.notUnderstood, at: now) }
            attempts = 0
            phase = .told(number: number, until: now + limits.silence)
            believe(state, at: now)
        case .heartbeat:
            guard case .told(let number, _) = phase else { return .wait }
            phase = .told(number: number, until: now + limits.silence)
            believe(believed, at: now)
        case .hungUp:
            let hasSpoken = if case .told = phase { true } else { false }
            doubtAll()
            awaitsEnd = hasSpoken
            pause(from: now)
            return .drop
        case .notUnderstood:
            doubtAll()
            pause(from: now)
            return .drop
        case .processEnded:
            guard case .apart = phase, awaitsEnd else { return .wait }
            hasEnded = true
            // Another daemon may have taken its place: the next attempt shows that.
            phase = .apart(next: now)
        case .nobodyListens:
            believe(.notCaptured, at: now)
            pause(from: now)
        case .noSocket:
            // A daemon removes its socket before it ends. If its end was not seen, nothing is known.
            if hasEnded { believe(.notCaptured, at: now) } else { doubt() }
            pause(from: now)
        case .notConnected:
            doubtAll()
            pause(from: now)
        }
        return .wait
    }

    private mutating func believe(_ state: CaptureState, at now: MediaTime) {
        (believed, believedUntil) = (state, now + limits.silence)
    }

    private mutating func doubt() { (believed, believedUntil) = (.unknown, .zero) }

    /// Also forgets what is known of a daemon's end: another process may be there.
    private mutating func doubtAll() {
        doubt()
        (awaitsEnd, hasEnded) = (false, false)
    }

    private mutating func pause(from now: MediaTime) {
        var length = limits.firstPause
        for _ in 0..<min(attempts, 16) { length = min(length + length, limits.longestPause) }
        attempts += 1
        phase = .apart(next: now + length)
    }
}
