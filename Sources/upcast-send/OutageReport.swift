import UpcastClient

/// Decides which states of a broadcast are printed as errors: each outage once, when it begins. Pure.
struct OutageReport {
    private var isOut = false

    /// The sentence about a destination that was lost or cannot be reached; nil if there is no new outage.
    mutating func sentence(_ state: BroadcastState, _ text: String) -> String? {
        switch state {
        case .reconnecting, .degraded:
            defer { isOut = true }
            return isOut || text.isEmpty ? nil : text
        case .live, .congested, .slowDown:
            isOut = false
            return nil
        case .connecting, .draining, .curtainUp, .curtainDown, .other: return nil
        }
    }
}
