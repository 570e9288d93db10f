internal import MediaCore

/// How long the daemon waits for a client's bytes, and what it says to a client that is late. Pure.
struct ClientPatience {
    /// What the daemon waits for.
    enum Awaited { case start, restOfMessage, nextMessage }

    /// When the client's bytes came.
    struct Times {
        var accepted: MediaTime
        /// Equals `accepted` before the first byte.
        var lastByte: MediaTime
        /// The first byte of the current or last message, and the size of its payload.
        var messageBegin: MediaTime
        var messagePayload = 0

        init(accepted: MediaTime) {
            (self.accepted, lastByte, messageBegin) = (accepted, accepted, accepted)
        }

        /// Moves all deadlines by `lost`, a time in which the daemon did not run.
        mutating func forgive(_ lost: MediaTime) {
            accepted += lost
            lastByte += lost
            messageBegin += lost
        }
    }

    let settings: IngestServer.Settings

    /// The deadline, or nil for none.
    func deadline(_ awaited: Awaited, _ times: Times) -> MediaTime? {
        switch awaited {
        case .start: times.accepted + settings.startTimeout
        case .restOfMessage:
            // A deadline for the next byte alone would let a slow client block all others.
            min(
                times.lastByte + settings.messageTimeout,
                times.messageBegin + settings.messageTimeout + .seconds(Int64(times.messagePayload >> 20)))
        case .nextMessage: settings.idleTimeout > .zero ? times.lastByte + settings.idleTimeout : nil
        }
    }

    /// The error sentence for a client that missed the deadline.
    func sentence(_ awaited: Awaited) -> String {
        switch awaited {
        case .start: "no started message within \(settings.startTimeout) after connecting"
        case .restOfMessage:
            "a message is incomplete: the limit is \(settings.messageTimeout) for its next byte, and "
                + "\(settings.messageTimeout) plus 1 s for each MiB of payload for the whole message"
        case .nextMessage: "no message for \(settings.idleTimeout)"
        }
    }
}
