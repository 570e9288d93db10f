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

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("captured", &isCaptured)
        fields("kind", &kind)
        fields("client", &client)
        fields("since", &since)
        fields("for_ms", &milliseconds)
    }
}
