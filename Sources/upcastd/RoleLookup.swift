internal import Configuration
internal import Control
internal import Glibc
internal import LinuxSystem

extension ControlRoleTable {
    /// Resolves the names.
    ///
    /// - Throws: a sentence that names the first user or group that does not exist.
    init(_ control: ControlConfiguration) throws(StartFailure) {
        self.init(
            operators: try Self.members(control.operators, "control.operators"),
            clients: try Self.members(control.clients, "control.clients"),
            apps: try Self.members(control.apps, "control.apps"), daemonUser: geteuid())
    }

    private static func members(_ names: RoleMembers, _ key: String) throws(StartFailure) -> Members? {
        guard !names.isEmpty else { return nil }
        var members = Members()
        for name in names.users {
            guard let user = names.number(ofUser: name) else {
                throw StartFailure("\(key): user \(name) does not exist; create it, or write another")
            }
            members.users.insert(user)
        }
        for name in names.groups {
            guard let group = names.number(ofGroup: name) else {
                throw StartFailure("\(key): group \(name) does not exist; create it, or write another")
            }
            members.groups.insert(group)
        }
        return members
    }
}

extension RoleMembers {
    fileprivate func number(ofUser name: String) -> UInt32? { UInt32(name) ?? AccountNames.user(name) }
    fileprivate func number(ofGroup name: String) -> UInt32? { UInt32(name) ?? AccountNames.group(name) }
}

extension Configuration {
    /// Problems that make the role lists unable to distinguish users. The daemon refuses to start with them.
    ///
    /// - Parameter namespace: why users cannot be distinguished on this machine; nil if they can.
    func roleProblems(
        places: ConfigurationPlaces = ConfigurationPlaces(), namespace: String? = UserNamespace.problem(),
        daemonUser: UInt32 = geteuid()
    ) -> [ConfigurationProblem] {
        let lists = [
            ("control.operators", control.operators), ("control.clients", control.clients),
            ("control.apps", control.apps),
        ].filter { !$0.1.isEmpty }
        guard let first = lists.first?.0 else { return [] }
        if let namespace {
            return [
                ConfigurationProblem(
                    place: places[first], key: first,
                    what: "the daemon cannot distinguish users: \(namespace)",
                    remedy: "run it outside the user namespace (systemd: no PrivateUsers=; Docker: --userns=host; "
                        + "Kubernetes: hostUsers: true), or leave the lists empty")
            ]
        }
        if daemonUser == UserNamespace.overflowUser {
            return [
                ConfigurationProblem(
                    place: places[first], key: first,
                    what: "the daemon runs as user \(daemonUser), which represents all users outside this namespace",
                    remedy: "run it as a dedicated user, or leave the lists empty")
            ]
        }
        return lists.flatMap { key, members in
            let (user, group) = (UserNamespace.overflowUser, UserNamespace.overflowGroup)
            let users = members.users.filter { members.number(ofUser: $0) == user }.map { ("user", $0, user) }
            let groups = members.groups.filter { members.number(ofGroup: $0) == group }.map { ("group", $0, group) }
            return (users + groups).map { kind, name, number in
                let written = name == "\(number)" ? "\(kind) \(name)" : "\(kind) \(name) (\(number))"
                return ConfigurationProblem(
                    place: places[key], key: key,
                    what: "\(written) represents every \(kind) outside this namespace",
                    remedy: "write a dedicated \(kind)")
            }
        }
    }
}
