package import Buffering
package import ControlProtocol
package import Measurement
package import MediaCore

package enum DestinationState: String, Sendable {
    case idle
    case connecting
    case publishing
    /// An attempt failed or a connection broke; another attempt follows automatically.
    case reconnecting
    /// Sends the rest of the log, then unpublishes.
    case stopping
    case stopped
    /// Given up; nothing more is published.
    case failed
}

/// Events of a destination, sent on its thread.
package enum DestinationEvent: Sendable {
    case state(DestinationState)
    /// Publishing was given up; only the state `failed` follows.
    case failed(PublishError)
    /// An attempt failed or a connection broke. The next attempt follows `after` this time. `attempt` counts from 1
    /// since media last flowed.
    case retrying(PublishError, attempt: Int, after: MediaTime)
    /// The server has accepted and closed `connections` in a row, each within a second.
    case flapping(PublishError, connections: Int)
    /// Information for operators: one sentence without secrets.
    case notice(String)
    /// Like `notice`, but it must be shown even if notices are not.
    case warning(String)
}

/// Sent packets and their payload bytes, without headers.
package struct SentCounters: Equatable, Sendable {
    package var packets = 0
    package var bytes = 0

    package init() {}

    mutating func add(_ byteCount: Int) {
        packets += 1
        bytes += byteCount
    }
}

/// The state of a destination at one moment, without secrets.
package struct DestinationSnapshot: Equatable, Sendable {
    package var name: String
    /// The URL without secrets, or the path of the current file.
    package var location: String
    package var state = DestinationState.idle
    /// When the state was entered (monotonic clock).
    package var since: MediaTime
    /// Since when the destination has taken no media, over all attempts (monotonic clock); nil while it takes some.
    /// A server that keeps closing connections at once takes none until one lasts.
    package var downSince: MediaTime?
    package var video = SentCounters()
    package var audio = SentCounters()
    /// Packets encoded since the destination began, sent or not.
    package var offeredPackets = 0
    /// Bytes given to sockets or written to files since the destination began.
    package var bytesSent: UInt64 = 0
    /// The part of `bytesSent` that servers have acknowledged; nil for a file, and before the first acknowledgement.
    package var bytesAcknowledged: UInt64?
    package var drops = DropCounters()
    package var backlog = CursorBacklog()
    /// The last failure with its consequence.
    package var lastError: PublishError?
    /// When the last failure happened (monotonic clock).
    package var lastErrorAt: MediaTime?
    /// The number of latest connections in a row that went live and were closed within a second.
    package var shortConnections = 0
    /// Presentation time of the newest packet that was sent.
    package var lastPTS: MediaTime?
    /// Whether the whole log was sent and the server has confirmed it. Set when the destination has stopped.
    package var isDrained = false
    /// The number of the current or last attempt, from 1 since media last flowed.
    package var attempt = 0
    /// The number of connections or files that were ready for packets.
    package var connects = 0
    /// Failed attempts and broken connections, by cause.
    package var failures: [FailureCause: Int] = [:]
    /// When the next attempt begins (monotonic clock); nil except while reconnecting.
    package var nextAttempt: MediaTime?
    /// From the arrival of a frame to the write of its packet.
    package var latency = LatencySummary()
    package var link: LinkReport
    /// For example "TLS1.3"; nil without TLS.
    package var tlsProtocol: String?

    /// Whether the server repeatedly accepts connections and closes them at once.
    package var isFlapping: Bool { shortConnections >= ShortConnections.worthTelling }

    package var kind: DestinationKind
    package var isServer: Bool { kind.isServer }

    init(name: String, kind: DestinationKind, location: String, since: MediaTime) {
        self.name = name
        self.kind = kind
        self.location = location
        self.since = since
        downSince = since
        link = LinkReport(time: since)
    }
}
