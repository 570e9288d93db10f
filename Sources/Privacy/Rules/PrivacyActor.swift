package import Glibc

/// The origin of a request, for the audit log: the process at the other end of a socket, as the kernel reports it.
package struct PrivacyActor: Equatable, Sendable {
    /// On whose behalf the request is. An operator who acts for an app counts as the app here.
    package var kind: PrivacyHolder.Kind
    package var user: uid_t?
    package var process: pid_t?
    /// Whether the request came with the operator's token over TCP, where the kernel does not identify the sender.
    package var showsToken: Bool

    package init(
        _ kind: PrivacyHolder.Kind, user: uid_t? = nil, process: pid_t? = nil, showsToken: Bool = false
    ) {
        (self.kind, self.user, self.process, self.showsToken) = (kind, user, process, showsToken)
    }

    /// The daemon itself.
    package static let daemon = PrivacyActor(.daemon)
}
