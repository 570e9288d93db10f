package import Glibc

/// Who has asked for something, for the audit log: the process at the other end of a socket, as the kernel says.
package struct PrivacyActor: Equatable, Sendable {
    /// On whose behalf: an operator who acts for an app is that app here.
    package var kind: PrivacyHolder.Kind
    package var user: uid_t?
    package var process: pid_t?
    /// Whoever showed the operator's token over TCP: the kernel does not say who that is.
    package var showsToken: Bool

    package init(
        _ kind: PrivacyHolder.Kind, user: uid_t? = nil, process: pid_t? = nil, showsToken: Bool = false
    ) {
        (self.kind, self.user, self.process, self.showsToken) = (kind, user, process, showsToken)
    }

    /// Nobody but the daemon.
    package static let daemon = PrivacyActor(.daemon)
}
