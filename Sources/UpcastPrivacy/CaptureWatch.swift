internal import MediaCore

/// What may be believed of the capture state, and what is to be done next to find out. Pure: events and times come in,
/// a step comes out.
///
/// "Not captured" is believed in three cases only, and for `silence` only, unless it is said or seen again: the daemon
/// has said so on a connection that is open and not silent; nobody listens at the socket; or the process that has
/// spoken for the daemon has ended, and after that there is nothing at the socket's path.
struct CaptureWatch {
    /// Times that bound what is believed and how often is asked.
    struct Limits: Equatable, Sendable {
        /// How long a daemon that says nothing is believed; it says something every second.
        var silence = MediaTime.seconds(3)
        /// How long the first event is waited for before the question is asked again.
        var answer = MediaTime.seconds(10)
        /// Between two attempts to connect: the first, and the most, by doubling.
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
        /// What came on the connection is not understood, or is a refusal.
        case notUnderstood
        /// The process with which the last connection was made has ended, and that connection with it.
        case processEnded
        /// Connecting failed: nobody has the socket open.
        case nobodyListens
        /// Connecting failed: there is nothing at the socket's path.
        case noSocket
        /// Connecting failed in another way.
        case notConnected
    }

    /// What whoever owns the connection is to do.
    enum Step: Equatable, Sendable {
        case wait
        case connect
        /// Close the connection, if there is one.
        case drop
    }

    private enum Phase: Equatable {
        /// No connection; the next attempt.
        case apart(next: MediaTime)
        /// Connected, and nothing said yet.
        case asked(giveUp: MediaTime)
        /// The last event's number, and until when it is believed.
        case told(number: Int, until: MediaTime)
    }

    private let limits: Limits
    private var phase: Phase
    private var attempts = 0
    private var believed = CaptureState.unknown
    private var believedUntil = MediaTime.zero
    /// The connection that has ended had spoken for the daemon, and nobody else has been seen since: where its process
    /// ends, too, the daemon has.
    private var awaitsEnd = false
    /// It has.
    private var hasEnded = false

    init(_ limits: Limits, at now: MediaTime) {
        self.limits = limits
        phase = .apart(next: now)
    }

    /// What is known at `now`; also where nobody has called `handle` or `step` for a while.
    func state(at now: MediaTime) -> CaptureState { now < believedUntil ? believed : .unknown }

    /// When `step` is to be asked again, if no event comes before.
    var deadline: MediaTime {
        switch phase {
        case .apart(let next): next
        case .asked(let giveUp): giveUp
        case .told(_, let until): until
        }
    }

    /// Before an event is handled that has come since: one that lay about while the daemon was silent for too long, or
    /// while this process stood still, is not believed.
    mutating func step(at now: MediaTime) -> Step {
        guard now >= deadline else { return .wait }
        guard case .apart = phase else { return handle(.notUnderstood, at: now) }
        return .connect
    }

    mutating func handle(_ event: Event, at now: MediaTime) -> Step {
        switch event {
        case .connected:
            // Somebody is there; nobody knows yet who, and what has begun since.
            doubtAll()
            phase = .asked(giveUp: now + limits.answer)
        case .told(let state, let number):
            let expected: Int
            switch phase {
            case .apart: return .drop
            case .asked: expected = 1
            case .told(let last, _): expected = last + 1
            }
            // One that is missing, or comes again, could be the one that counts.
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
            // Another daemon may have taken its place: who looks knows.
            phase = .apart(next: now)
        case .nobodyListens:
            believe(.notCaptured, at: now)
            pause(from: now)
        case .noSocket:
            // A daemon removes its socket before it ends. Who has not seen its end knows nothing.
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

    /// Also what is known of an end: somebody else may be there.
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
