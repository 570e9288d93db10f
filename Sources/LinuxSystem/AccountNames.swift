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
}
