/// Whether anything is being captured, for a captured app. This is the daemon's answer to `GET /state`.
package struct CaptureStateReport: JSONRecord {
    /// Whether a capture client has a broadcast, or its samples are still going out.
    package var isCaptured = false
    /// The client's source kind: `screen`, `mirroring`, `external playback`; empty if nothing is captured.
    package var kind = ""
    /// The client's name.
    package var client = ""
    /// When `isCaptured` got its value, on the clock of the machine: milliseconds since 1970, in UTC. Each broadcast of
    /// a client has its own time.
    package var since = 0
    /// How long `isCaptured` has had its value.
    package var milliseconds = 0
    /// The number of the current or last capture. Each capture has the next number. A later daemon on this machine does
    /// not use a number again, as long as the clock goes forward. 0 before a daemon's first capture.
    package var capture = 0
    /// The apps whose answers the start curtain of this capture waits for, such as `app:kiosk`.
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

/// The changes of the capture state that a reader has not been told yet.
package struct CaptureStateNews: Equatable, Sendable {
    /// In the order in which they occurred.
    package var reports: [CaptureStateReport]
    /// The number of the last change, from which the reader continues.
    package var number: UInt64

    package init(_ reports: [CaptureStateReport], number: UInt64) { (self.reports, self.number) = (reports, number) }
}
