internal import Glibc
internal import LinuxSystem

/// How many connections of whom are open at the Unix socket: nobody takes the places of others. Pure.
///
/// Whoever has no role may ask for health and the page only, and has few places, which others never need. Of the rest
/// no user but operators fills all.
struct ControlPlaces {
    /// Whose connection it is.
    struct Visitor: Hashable, Sendable {
        /// Nil where the kernel does not say.
        var user: uid_t?
        var hasRole: Bool
        var isOperator: Bool

        init(_ peer: ControlPeer) {
            user = peer.credentials?.userID
            (hasRole, isOperator) = (!peer.roles.isEmpty, peer.isOperator)
        }
    }

    private let limits: ControlLimits
    private var open: [Visitor: Int] = [:]
    private var count = 0
    private var strangers = 0

    init(_ limits: ControlLimits) { self.limits = limits }

    /// Nobody has a place until one leaves. Whoever has to go for another does so within a turn of the event loop.
    var isFull: Bool { count >= limits.maxAccepted }

    /// False where there is no place for that one.
    mutating func take(_ visitor: Visitor) -> Bool {
        let own = open[visitor] ?? 0
        guard !isFull else { return false }
        if !visitor.hasRole {
            guard strangers < limits.maxStrangers, own < max(1, limits.maxStrangers / 2) else { return false }
            strangers += 1
        } else if !visitor.isOperator {
            guard own < limits.maxOfOneUser else { return false }
        }
        open[visitor] = own + 1
        count += 1
        return true
    }

    mutating func leave(_ visitor: Visitor) {
        guard let own = open[visitor] else { return }
        open[visitor] = own > 1 ? own - 1 : nil
        count -= 1
        if !visitor.hasRole { strangers -= 1 }
    }
}
