internal import Glibc

/// The folder of the default sockets. Daemon, clients and upcastctl decide by the same rule, so that they meet.
package enum RuntimeFolder {
    /// The folder that the systemd units, packages and containers create.
    package static let standard = "/run/upcast"

    /// The folder for the environment and the user of this process.
    ///
    /// - Parameter personal: `$XDG_RUNTIME_DIR`; nil or empty if it is unset.
    package static func path(personal: String?) -> String {
        path(
            personal: personal, isRoot: geteuid() == 0,
            exists: { unsafe access($0, F_OK) == 0 }, isWritable: { unsafe access($0, W_OK | X_OK) == 0 })
    }

    /// `/run/upcast`, unless it does not exist and an ordinary user has a runtime folder of its own. Pure.
    package static func path(
        personal: String?, isRoot: Bool, exists: (String) -> Bool, isWritable: (String) -> Bool
    ) -> String {
        guard !isRoot, let personal, personal.hasPrefix("/"), !exists(standard), isWritable(personal) else {
            return standard
        }
        let folder = personal.last == "/" ? String(personal.dropLast()) : personal
        return "\(folder)/upcast"
    }

    /// For this process.
    package static var current: String {
        path(personal: unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) })
    }

    /// Creates the folder of a user, for this user alone. `/run/upcast` is not created: root does that.
    package static func create(_ folder: String) {
        // A folder that cannot be created is reported with the sockets that belong there.
        if folder != standard { _ = unsafe mkdir(folder, 0o700) }
    }
}
