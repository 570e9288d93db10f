package import Grabbing
internal import LinuxSystem
package import MediaCore

/// A screen or window that the user shares through the ScreenCast portal. It outlives broadcasts, because each new
/// share shows the user a dialogue. One thread at a time.
package final class SharedScreen: @unchecked Sendable /* threads take turns */ {
    package struct Settings: Equatable, Sendable {
        package var rate: FrameRate
        package var showsPointer: Bool
        /// The file in which the permission is kept; nil to keep none.
        package var token: RestoreToken?
        /// The session's Wayland compositor; nil if it has none.
        package var compositor: String?
        package var runtimeFolder: String?
        package var pipewire: PipeWireSocket

        package init(
            rate: FrameRate, showsPointer: Bool, token: RestoreToken? = nil, compositor: String? = nil,
            runtimeFolder: String? = nil, pipewire: PipeWireSocket
        ) {
            (self.rate, self.showsPointer, self.token) = (rate, showsPointer, token)
            (self.compositor, self.runtimeFolder, self.pipewire) = (compositor, runtimeFolder, pipewire)
        }
    }

    /// Information for the user.
    package enum Notice: Equatable, Sendable {
        /// The user is asked what to share.
        case asking
        case hint(String)
    }

    private let settings: Settings
    private let portal: PortalConnection
    private let presence: CompositorPresence?
    private let clock = MonotonicClock()
    /// Nil until the user has agreed.
    private(set) var stream: PipeWireStream?
    private(set) var hand: PictureInHand?
    /// The state after a sign of an end, while the desktop is asked whether it still has the session.
    private struct Doubt {
        let since: MediaTime
        let lastQuestion: MediaTime
        let hasAskedAgain: Bool
    }

    private var doubt: Doubt?
    /// When PipeWire was first seen to have ended, and whether the desktop had not closed the session before.
    private var serverEnd: (seen: MediaTime, wasOpen: Bool)?
    /// How long the user may take to choose.
    private static let patience = MediaTime.seconds(600)

    /// - Throws: if there is no bus for a portal.
    package init(_ settings: Settings) throws(ScreenError) {
        self.settings = settings
        portal = try PortalConnection()
        presence = settings.compositor.flatMap { CompositorPresence($0, folder: settings.runtimeFolder) }
    }

    package var isShared: Bool { stream != nil }
    /// Whether the stream has ended, perhaps by the user. No picture of it may be sent until that is known.
    var mayHaveEnded: Bool { doubt != nil }

    /// Asks for the screen, unless it is shared.
    ///
    /// - Parameters:
    ///   - stop: a descriptor; once it is readable, `isStopped` says whether to end.
    /// - Returns: false if `isStopped` returned true.
    /// - Throws: `ScreenError`, `SharingRefused`.
    package func share(stop: CInt, _ isStopped: () -> Bool, notice: (Notice) -> Void) throws -> Bool {
        guard stream == nil else { return true }
        guard !settings.pipewire.isGone else { throw Self.noPipeWire }
        do {
            let wish = try PortalWish(try portal.facts(stop: stop, isStopped), showsPointer: settings.showsPointer)
            if let lack = wish.lack { notice(.hint(lack)) }
            let grant = try portal.share(
                wish, token: settings.token?.read(), patience: Self.patience, stop: stop, isStopped,
                asking: { notice(.asking) }, keep: { keep($0, notice) })
            let stream = try PipeWireStream(
                remote: grant.remote, node: grant.node, rate: settings.rate,
                pointer: settings.showsPointer && wish.pointer == .metadata)
            (self.stream, hand) = (stream, PictureInHand(stream))
            (doubt, serverEnd) = (nil, nil)
        } catch is PortalConnection.Interrupted {
            portal.endSession()
            return false
        } catch PortalAnswer.NoAnswer.ended(let step) {
            throw settings.pipewire.isThere == false ? Self.noPipeWire : PortalAnswer.ended(step)
        } catch let error as SharingRefused {
            settings.token?.remove()
            portal.endSession()
            throw error
        }
        return true
    }

    private static let noPipeWire = ScreenError(
        "PipeWire, which brings the pictures of a shared screen, does not run for this user; start it: systemctl "
            + "--user start pipewire wireplumber", isTemporary: true)

    /// Keeps the next token, because a token restores a choice only once.
    private func keep(_ token: String?, _ notice: (Notice) -> Void) {
        guard let file = settings.token else { return }
        guard let token else { return file.remove() }
        do { try file.write(token) } catch {
            file.remove()
            notice(.hint("cannot write \(file.path): \(error); the next start asks which screen to share"))
        }
    }

    /// Handles all events that have arrived while there is no grabber.
    ///
    /// - Throws: `Failure`, or `SharingRefused` after the user has ended the sharing.
    package func processWhileIdle() throws {
        guard let stream else { return }
        stream.enter()
        defer { stream.leave() }
        try process()
    }

    /// Handles all events that have arrived.
    ///
    /// - Throws: `Failure`, or `SharingRefused` after the user has ended the sharing.
    func process() throws {
        stream?.process()
        var signs = SharingEnd.Signs()
        signs.isServerGone = stream?.isServerGone ?? false
        let isNews = signs.isServerGone && serverEnd == nil
        // From here on, what the desktop has done before is known.
        let isCaughtUp = isNews && portal.catchUp()
        do { try portal.process() } catch { signs.isPortalGone = true }
        portal.note(&signs)
        signs.isCompositorGone = presence?.hasEnded ?? false
        signs.hasStreamEnded = stream?.hasEnded ?? true
        signs.isConfirmed = doubt?.hasAskedAgain ?? false
        let now = clock.now()
        if isNews { serverEnd = (now, isCaughtUp && !signs.isClosed && signs.hasSession != false) }
        signs.hasServerEndedFirst = serverEnd.map { $0.wasOpen && now - $0.seen <= SharingEnd.promptness } ?? false
        let verdict = SharingEnd.judge(signs, after: now - (doubt?.lastQuestion ?? now))
        switch verdict {
        case .none: return
        case .unclear:
            if let doubt {
                let isDue = signs.hasSession == true && now - doubt.since >= SharingEnd.confirmation
                guard isDue, !doubt.hasAskedAgain else { return }
            }
            doubt = Doubt(since: doubt?.since ?? now, lastQuestion: now, hasAskedAgain: doubt != nil)
            portal.askForSession()
        case .lost:
            // Another attempt would ask the user again, and end in the same way.
            if !signs.isPortalGone, !signs.isCompositorGone, let stream, stream.isRefused,
                settings.pipewire.isThere != false
            {
                throw ScreenError(
                    "PipeWire has ended the stream before it gave a picture: \(stream.error). upcast-screen "
                        + "takes RGB with 8 bits per colour in memory that it can read, and none of graphics cards "
                        + "(DmaBuf)")
            }
            throw Failure.lost
        case .unknown:
            settings.token?.remove()
            throw Failure.unknown
        case .stopped:
            // Without the token, no program shares the screen again before the user has agreed.
            settings.token?.remove()
            throw SharingRefused.ended
        }
    }

    package enum Failure: Error {
        /// The share has ended with a program that may come back.
        case lost
        /// The desktop does not say whether the user has ended the share. The user is asked again.
        case unknown
    }

    /// Adds the events after which `process` has work, except those of the stream.
    func note(in wait: inout GrabWait) {
        portal.note(in: &wait)
        wait.note(presence?.descriptor ?? -1)
        if doubt != nil { wait.note(atMost: .milliseconds(200)) }
    }
}
