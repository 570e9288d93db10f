/// Whether anything is being captured, for the app that it is captured from: what the daemon answers at `GET /state`.
package struct CaptureStateReport: JSONRecord {
    /// A capture client has a broadcast, or what it sent is still going out.
    package var isCaptured = false
    /// What the client said that it is: `screen`, `mirroring`, `external playback`; empty where nothing is captured.
    package var kind = ""
    /// Its name.
    package var client = ""
    /// Since when it has been so, either way, by the clock of the machine: milliseconds since 1970, in UTC. Another
    /// broadcast of the same client has another.
    package var since = 0
    /// How long it has been so.
    package var milliseconds = 0
    /// Which capture that is, or was last: each has the next number, and no later daemon on this machine uses it again
    /// while the clock goes forward. 0 before a daemon's first.
    package var capture = 0
    /// Whose answers the start curtain of this capture waits for, such as `app:kiosk`.
    package var waitingFor: [String] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("captured", &isCaptured)
        fields("kind", &kind)
        fields("client", &client)
        fields("since", &since)
        fields("for_ms", &milliseconds)
        fields("capture", &capture)
        fields("waiting_for", &waitingFor)
    }
}

/// What a reader of the capture state has not been told yet.
package struct CaptureStateNews: Equatable, Sendable {
    /// In the order in which they came to be.
    package var reports: [CaptureStateReport]
    /// The last change's number: from there the reader goes on.
    package var number: UInt64

    package init(_ reports: [CaptureStateReport], number: UInt64) { (self.reports, self.number) = (reports, number) }
}
