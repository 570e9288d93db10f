internal import Glibc
internal import LinuxSystem

/// Counts the open connections of each user at the Unix socket, and decides whether another one fits. Pure.
///
/// Users without a role can read only health and the page; a few connections are reserved for them. Only operators may
/// take all other connections.
struct ConnectionQuota {
    /// The owner of a connection.
    struct Owner: Hashable, Sendable {
        /// Nil if the kernel does not report the user.
        var user: uid_t?
        var hasRole: Bool
        var isOperator: Bool

        init(_ peer: ControlPeer) {
            user = peer.credentials?.userID
            (hasRole, isOperator) = (!peer.roles.isEmpty, peer.isOperator)
        }
    }

    private let limits: ControlLimits
    private var open: [Owner: Int] = [:]
    private var count = 0
    private var withoutRole = 0

    init(_ limits: ControlLimits) { self.limits = limits }

    /// Whether no connection fits until one is closed. The server makes room within a turn of its event loop.
    var isFull: Bool { count >= limits.maxAccepted }

    /// Counts a connection of `owner`; false if that would exceed its quota.
    mutating func acquire(_ owner: Owner) -> Bool {
        let own = open[owner] ?? 0
        guard !isFull else { return false }
        if !owner.hasRole {
            guard withoutRole < limits.maxWithoutRole, own < max(1, limits.maxWithoutRole / 2) else { return false }
            withoutRole += 1
        } else if !owner.isOperator {
            guard own < limits.maxOfOneUser else { return false }
        }
        open[owner] = own + 1
        count += 1
        return true
    }

    mutating func release(_ owner: Owner) {
        guard let own = open[owner] else { return }
        open[owner] = own > 1 ? own - 1 : nil
        count -= 1
        if !owner.hasRole { withoutRole -= 1 }
    }
}
