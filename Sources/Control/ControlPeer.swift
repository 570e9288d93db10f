package import LinuxSystem

/// The role of a peer.
package struct ControlRoles: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// May do everything.
    package static let `operator` = ControlRoles(rawValue: 1)
    /// A capture client: may read the status, and hide content.
    package static let captureClient = ControlRoles(rawValue: 2)
    /// A captured app: may hide content and read the capture state.
    package static let capturedApp = ControlRoles(rawValue: 4)

    /// The holder of the metrics token: may only read the metrics.
    package static let metricsReader = ControlRoles(rawValue: 8)

    package static let all: ControlRoles = [.operator, .captureClient, .capturedApp]
    /// The roles that may read the status.
    package static let lookers: ControlRoles = [.operator, .captureClient]
}

/// The sender of a request.
package struct ControlPeer: Equatable, Sendable {
    package var roles: ControlRoles
    /// The credentials from the kernel; nil over TCP, which uses tokens.
    package var credentials: PeerCredentials?
    /// Whether the request came over TCP with a token.
    package var showsToken: Bool

    package init(roles: ControlRoles, credentials: PeerCredentials? = nil, showsToken: Bool = false) {
        (self.roles, self.credentials, self.showsToken) = (roles, credentials, showsToken)
    }

    package static let `operator` = ControlPeer(roles: .operator)
    package var isOperator: Bool { roles.contains(.operator) }
}

/// Which users and groups have which roles.
package struct ControlRoleTable: Equatable, Sendable {
    package struct Members: Equatable, Sendable {
        package var users: Set<UInt32> = []
        package var groups: Set<UInt32> = []

        package init(users: Set<UInt32> = [], groups: Set<UInt32> = []) {
            (self.users, self.groups) = (users, groups)
        }

        func contains(_ peer: PeerCredentials) -> Bool {
            peer.userID.map(users.contains) == true || peer.groupID.map(groups.contains) == true
                || peer.otherGroups.contains { groups.contains($0) }
        }
    }

    private let operators, clients, apps: Members?
    private let daemonUser: UInt32

    /// Nil for a list that is not configured. Without any list, everybody whom the socket's permissions admit is an
    /// operator. With at least one list, root and the daemon's own user are operators, and users that are in no list
    /// have no role.
    package init(operators: Members?, clients: Members?, apps: Members?, daemonUser: UInt32) {
        (self.operators, self.clients, self.apps) = (operators, clients, apps)
        self.daemonUser = daemonUser
    }

    /// Every peer is an operator.
    package static let open = ControlRoleTable(operators: nil, clients: nil, apps: nil, daemonUser: 0)

    /// Whether a peer's groups make a difference.
    var hasGroups: Bool { [operators, clients, apps].contains { $0?.groups.isEmpty == false } }

    /// The roles of a peer. A user without a number in this namespace has no role, whatever its groups are, because its
    /// holds could not be distinguished from those of other such users.
    ///
    /// - Parameter peer: nil if the kernel does not report the peer.
    package func roles(of peer: PeerCredentials?) -> ControlRoles {
        guard operators != nil || clients != nil || apps != nil else { return .operator }
        guard let peer, let user = peer.userID else { return [] }
        var roles: ControlRoles = []
        if user == 0 || user == daemonUser || operators?.contains(peer) == true {
            roles.insert(.operator)
        }
        if clients?.contains(peer) == true { roles.insert(.captureClient) }
        if apps?.contains(peer) == true { roles.insert(.capturedApp) }
        return roles
    }
}
