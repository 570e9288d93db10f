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

    /// How long the desktop may take to answer.
    package static let patience = MediaTime.seconds(3)

    /// - Parameter duration: since the first sign.
    package static func judge(_ signs: Signs, after duration: MediaTime) -> Self {
        if signs.isPortalGone || signs.isCompositorGone { return .lost }
        if signs.isClosed || signs.hasSession == false { return .stopped }
        guard signs.hasStreamEnded else { return .none }
        if signs.hasSession == true || duration >= patience { return .lost }
        return .unclear
    }
}
