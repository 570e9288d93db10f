internal import CLinux

/// Resolves user and group names with the system's databases.
package enum AccountNames {
    /// getpwnam_r(3); nil if the user does not exist.
    package static func user(_ name: String) -> UInt32? {
        var number: UInt32 = 0
        return unsafe upcast_user_number(name, &number) == 0 ? number : nil
    }

    /// getgrnam_r(3); nil if the group does not exist.
    package static func group(_ name: String) -> UInt32? {
        var number: UInt32 = 0
        return unsafe upcast_group_number(name, &number) == 0 ? number : nil
    }

    /// The name of a user, or its number if it has none.
    package static func name(user number: UInt32) -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe upcast_user_name(number, &name, CInt(name.count)) == 0 else { return "\(number)" }
        return text(name)
    }

    /// The name of a group, or its number if it has none.
    package static func name(group number: UInt32) -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe upcast_group_name(number, &name, CInt(name.count)) == 0 else { return "\(number)" }
        return text(name)
    }

    /// Whether the system's databases have the user in the group. A process that began earlier may still be without it.
    package static func isUser(_ user: UInt32, in group: UInt32) -> Bool {
        upcast_user_is_in_group(user, group) != 0
    }

    private static func text(_ name: [CChar]) -> String {
        String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
