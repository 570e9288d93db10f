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
            guard let user = UInt32(name) ?? AccountNames.user(name) else {
                throw StartFailure("\(key): there is no user \(name); create it, or write another")
            }
            members.users.insert(user)
        }
        for name in names.groups {
            guard let group = UInt32(name) ?? AccountNames.group(name) else {
                throw StartFailure("\(key): there is no group \(name); create it, or write another")
            }
            members.groups.insert(group)
        }
        return members
    }
}
