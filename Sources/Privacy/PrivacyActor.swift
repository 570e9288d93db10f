package import Glibc

/// Who has asked for something, for the audit log: the process at the other end of a socket, as the kernel says.
package struct PrivacyActor: Equatable, Sendable {
    package var user: uid_t?
    package var process: pid_t?

    package init(user: uid_t? = nil, process: pid_t? = nil) {
        (self.user, self.process) = (user, process)
    }

    /// Nobody but the daemon.
    package static let daemon = PrivacyActor()
}
