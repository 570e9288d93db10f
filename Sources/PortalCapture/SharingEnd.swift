package import MediaCore

/// Decides why the pictures of a shared screen have ended. Pure.
///
/// If a user ends the sharing on the desktop, it must not start again. If a crash has ended it, it continues. PipeWire
/// does not tell these apart. The portal's session does, as long as portal and compositor are there.
package enum SharingEnd: Equatable, Sendable {
    package struct Signs: Equatable, Sendable {
        /// The desktop has closed the session.
        package var isClosed = false
        /// Whether the desktop still has the session; nil if it was not asked, or has not answered.
        package var hasSession: Bool?
        /// Whether `hasSession` answers a second question, which was asked `confirmation` after the first sign.
        package var isConfirmed = false
        /// The bus or the portal has ended.
        package var isPortalGone = false
        package var isCompositorGone = false
        /// PipeWire has ended the stream, or the captured node has gone.
        package var hasStreamEnded = false
        /// PipeWire itself has ended, and the captured node was there until then.
        package var isServerGone = false
        /// PipeWire's end was seen at most `promptness` ago, and the desktop had not closed the session before.
        package var hasServerEndedFirst = false

        package init() {}
    }

    /// The sharing continues.
    case none
    /// The desktop must be asked whether it still has the session.
    case unclear
    /// The user has ended the sharing.
    case stopped
    /// A program has ended, and may come back.
    case lost
    /// The desktop does not say who ended the sharing. It may start again only after the user has agreed.
    case unknown

    /// How long the desktop may take to answer.
    package static let patience = MediaTime.seconds(3)
    /// The end of a share reaches PipeWire first. The desktop may still have the session when it is asked at that
    /// moment.
    package static let confirmation = MediaTime.seconds(1)

    /// How soon a desktop closes a session because PipeWire has ended. Later, it may be the user.
    package static let promptness = MediaTime.milliseconds(200)

    /// - Parameter duration: the time since the desktop was last asked.
    package static func judge(_ signs: Signs, after duration: MediaTime) -> Self {
        // A compositor that ends closes its sessions.
        if signs.isCompositorGone { return .lost }
        // A portal that ends does not close sessions. So the user closed it before the portal ended.
        if signs.isClosed { return over(signs) }
        if signs.isPortalGone { return .lost }
        if signs.hasSession == false { return over(signs) }
        guard signs.hasStreamEnded else { return .none }
        if signs.hasSession == true { return signs.isConfirmed ? .lost : .unclear }
        return duration < patience ? .unclear : .unknown
    }

    /// Why the desktop has closed the session. KDE Plasma also does so when PipeWire ends.
    private static func over(_ signs: Signs) -> Self {
        guard signs.isServerGone else { return .stopped }
        return signs.hasServerEndedFirst ? .lost : .unknown
    }
}
