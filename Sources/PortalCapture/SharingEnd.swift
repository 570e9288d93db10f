package import MediaCore

/// Decides why the pictures of a shared screen have ended. Pure.
///
/// A user who ends the sharing on the desktop must not find it shared again. What a crash has ended goes on. Both look
/// alike at PipeWire: the session of the portal tells them apart, as long as portal and compositor are there.
package enum SharingEnd: Equatable, Sendable {
    package struct Signs: Equatable, Sendable {
        /// The desktop has closed the session.
        package var isClosed = false
        /// Whether the desktop has the session; nil if it was not asked, or has not answered.
        package var hasSession: Bool?
        /// The answer is to a second question, `confirmation` after the first sign.
        package var isConfirmed = false
        /// The bus or the portal has ended.
        package var isPortalGone = false
        package var isCompositorGone = false
        /// PipeWire has ended the stream, or what was captured is gone there.
        package var hasStreamEnded = false

        package init() {}
    }

    /// It goes on.
    case none
    /// The desktop has to be asked whether it has the session.
    case unclear
    /// By the user.
    case stopped
    /// By the end of a program: it may come back.
    case lost
    /// The desktop does not say by whom: only the user may share again.
    case unknown

    /// How long the desktop may take to answer.
    package static let patience = MediaTime.seconds(3)
    /// What the user has ended reaches PipeWire first. The desktop may still have the session when it is asked then.
    package static let confirmation = MediaTime.seconds(1)

    /// - Parameter duration: since the desktop was asked last.
    package static func judge(_ signs: Signs, after duration: MediaTime) -> Self {
        // A compositor that ends closes its sessions.
        if signs.isCompositorGone { return .lost }
        // A portal that ends does not: the user was before.
        if signs.isClosed { return .stopped }
        if signs.isPortalGone { return .lost }
        if signs.hasSession == false { return .stopped }
        guard signs.hasStreamEnded else { return .none }
        if signs.hasSession == true { return signs.isConfirmed ? .lost : .unclear }
        return duration < patience ? .unclear : .unknown
    }
}
