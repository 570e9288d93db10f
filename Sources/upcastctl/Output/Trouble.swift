import ControlClient
import ControlProtocol

/// What viewers miss and why, for the first lines of `status`. Pure.
enum Trouble {
    /// The most destinations that are named. If there are more, they are counted.
    private static let maxNamed = 3

    /// How late viewers get the broadcast: the lag of the slowest server; empty while no server takes it.
    static func behind(_ status: StatusReport) -> String {
        let servers = status.destinations.filter { $0.kind.isServer && [.live, .congested].contains($0.state) }
        guard let slowest = servers.max(by: { $0.lagMilliseconds < $1.lagMilliseconds }) else { return "" }
        return "\(Quantity.time(slowest.lagMilliseconds)) behind"
    }

    /// The destinations that do not take the broadcast as they should, each with its reason. Empty without a client,
    /// because nothing is expected of a destination then.
    static func reasons(_ status: StatusReport) -> String {
        guard status.client != nil else { return "" }
        var reasons = status.destinations.compactMap { destination in
            reason(destination, isOffAir: status.air.state == .offAir).map { "\(destination.name): \($0)" }
        }
        if reasons.count > maxNamed {
            let rest = reasons.count - maxNamed
            reasons = reasons.prefix(maxNamed) + ["and \(rest) more"]
        }
        return reasons.joined(separator: "; ")
    }

    private static func reason(_ destination: DestinationStatus, isOffAir: Bool) -> String? {
        switch destination.state {
        case .reconnecting, .failed: Reason.lastError(of: destination) ?? destination.state.rawValue
        case .congested: "the network takes less than is encoded"
        // A first connection is no trouble yet, but it is the reason why nothing arrives.
        case .connecting: Reason.lastError(of: destination) ?? (isOffAir ? "connecting" : nil)
        case .idle, .live, .closed: nil
        }
    }
}
