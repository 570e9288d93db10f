package import Buffering
package import Measurement
package import MediaCore

/// Where a destination is in its life.
package enum DestinationState: String, Sendable {
    case idle
    case connecting
    case publishing
    /// An attempt failed, or a connection broke; the next attempt comes by itself.
    case reconnecting
    /// Sending what is left, then unpublishing.
    case stopping
    case stopped
    /// Given up: nothing more is published there.
    case failed
}

/// What a destination tells its owner, on the destination's thread.
package enum DestinationEvent: Sendable {
    case state(DestinationState)
    /// Publishing was given up; nothing follows but the state `failed`.
    case failed(PublishError)
    /// An attempt failed or a connection broke; the next attempt comes `after` so long. `attempt` counts from 1 since
    /// media last flowed.
    case retrying(PublishError, attempt: Int, after: MediaTime)
    /// The server has taken and closed so many connections in a row within a second each.
    case flapping(PublishError, connections: Int)
    /// Something an operator should know, in one sentence without secrets.
    case notice(String)
    /// Something that an operator should hear of whatever else is left out, in such a sentence.
    case warning(String)
}

/// Packets that went out, and their payload bytes (headers not counted).
package struct SentCounters: Equatable, Sendable {
    package var packets = 0
    package var bytes = 0

    package init() {}

    mutating func add(_ byteCount: Int) {
        packets += 1
        bytes += byteCount
    }
}

/// A destination at one moment; holds nothing secret.
package struct DestinationSnapshot: Equatable, Sendable {
    package var name: String
    /// What kind of sink it is, such as "rtmps" or "flv-file".
    package var kind: String
    /// The URL without secrets, or the path of the file that is being written.
    package var location: String
    package var state = DestinationState.idle
    /// When the state was entered (monotonic clock).
    package var since: MediaTime
    package var video = SentCounters()
    package var audio = SentCounters()
    /// Packets that were encoded since the destination began, whether they were sent or not.
    package var offeredPackets = 0
    /// Bytes given to sockets or written to files, since the destination's start.
    package var bytesSent: UInt64 = 0
    /// Of these, what servers said they had received; nil for a file, and before a first word.
    package var bytesAcknowledged: UInt64?
    package var drops = DropCounters()
    package var backlog = CursorBacklog()
    /// The last failure, with what happens now.
    package var lastError: PublishError?
    /// When that was (monotonic clock).
    package var lastErrorAt: MediaTime?
    /// Connections in a row, the last among them, that went live and were closed within a second.
    package var shortConnections = 0
    /// Presentation time of the last packet that went out.
    package var lastPTS: MediaTime?
    /// Everything that the log held was sent before the end, and the server has shown that it got it: set when the
    /// destination has stopped.
    package var isDrained = false
    /// The number of the attempt that is being or was last made, from 1 since media last flowed.
    package var attempt = 0
    /// Connections that reached the point where packets flow, or files that were begun.
    package var connects = 0
    /// Failed attempts and broken connections since the start, by cause.
    package var failures: [PublishError.Kind: Int] = [:]
    /// When the next attempt is made (monotonic clock), while reconnecting.
    package var nextAttempt: MediaTime?
    /// From a frame's last byte at the capture socket to the moment when its packet is written.
    package var latency = LatencySummary()
    /// How the connection does.
    package var link: LinkReport
    /// "TLS1.3" and the like; nil where nothing is encrypted.
    package var tlsProtocol: String?

    /// Its server takes connections and closes them at once.
    package var isFlapping: Bool { shortConnections >= ShortConnections.worthTelling }

    init(name: String, kind: String, location: String, since: MediaTime) {
        self.name = name
        self.kind = kind
        self.location = location
        self.since = since
        link = LinkReport(time: since)
    }
}
