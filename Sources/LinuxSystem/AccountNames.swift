internal import CLinux

/// Numbers of users and groups by their names, as the system's databases have them.
package enum AccountNames {
    /// getpwnam_r(3); nil where there is none.
    package static func user(_ name: String) -> UInt32? {
        var number: UInt32 = 0
        return unsafe upcast_user_number(name, &number) == 0 ? number : nil
    }

    /// getgrnam_r(3); nil where there is none.
    package static func group(_ name: String) -> UInt32? {
        var number: UInt32 = 0
        return unsafe upcast_group_number(name, &number) == 0 ? number : nil
    }
}
