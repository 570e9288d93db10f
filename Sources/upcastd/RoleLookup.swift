internal import Configuration
internal import Control
internal import Glibc
internal import LinuxSystem

extension ControlRoleTable {
    /// Looks the names up.
    ///
    /// - Throws: a sentence that names the first that does not exist here.
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
                throw StartFailure("\(key): there is no user \(name); create it, or write another")
            }
            members.users.insert(user)
        }
        for name in names.groups {
            guard let group = names.number(ofGroup: name) else {
                throw StartFailure("\(key): there is no group \(name); create it, or write another")
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
    /// Why the role lists would not keep users apart: the daemon must not start with them.
    ///
    /// - Parameter namespace: why users cannot be told apart on this machine; nil where they can.
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
                    what: "the daemon cannot tell users apart: \(namespace)",
                    remedy: "run it outside of the user namespace (systemd: no PrivateUsers=; Docker: --userns=host; "
                        + "Kubernetes: hostUsers: true), or leave the lists empty")
            ]
        }
        if daemonUser == UserNamespace.overflowUser {
            return [
                ConfigurationProblem(
                    place: places[first], key: first,
                    what: "the daemon runs as user \(daemonUser), which stands for each user without a number here",
                    remedy: "run it as a user of its own, or leave the lists empty")
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
                    what: "\(written) stands for each \(kind) without a number here, and not for one",
                    remedy: "write a \(kind) of its own")
            }
        }
    }
}
