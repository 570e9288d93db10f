internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// What the ingest thread does for a client.
enum IngestStage {
    case idle
    /// A client is connected, and its messages are read.
    case reading(IngestSession)
    /// The broadcast drains. Further input of the client is discarded.
    case draining(IngestSession)
    /// The goodbye is sent. The server waits for the client to close.
    case lingering(IngestSession, until: MediaTime)

    var session: IngestSession? {
        switch self {
        case .idle: nil
        case .reading(let session), .draining(let session), .lingering(let session, _): session
        }
    }

    /// While a broadcast drains, the next client waits in the backlog.
    var acceptsClients: Bool {
        switch self {
        case .idle: true
        // The next client waits until this one has begun, because the daemon is not busy before.
        case .reading(let session): session.isLive
        case .draining, .lingering: false
        }
    }

    /// Whether counters are sent to the client. During a drain they show that the daemon still runs.
    var takesCounters: Bool {
        switch self {
        case .reading(let session): session.isLive
        case .draining: true
        case .idle, .lingering: false
        }
    }

    /// When the client is late, or nil.
    func deadline(_ patience: ClientPatience) -> MediaTime? {
        switch self {
        case .idle, .draining: nil
        case .reading(let session): patience.deadline(session.awaited, session.times)
        case .lingering(_, let until): until
        }
    }

    /// Extends the client's deadline by `lost`, a time in which the daemon did not run.
    mutating func forgive(_ lost: MediaTime) {
        switch self {
        case .reading(let session): session.forgive(lost)
        case .lingering(let session, let until): self = .lingering(session, until: until + lost)
        case .idle, .draining: break
        }
    }

    /// The client's descriptor for `poll`. None after the peer has closed, because a closed socket stays readable while
    /// its broadcast drains.
    var polled: pollfd {
        guard let session else { return pollfd(fd: -1, events: 0, revents: 0) }
        let events = Int16(POLLIN) | (session.outbox.isEmpty ? 0 : Int16(POLLOUT))
        return pollfd(fd: session.inputEnded ? -1 : session.socket.raw, events: events, revents: 0)
    }
}
