import Grabbing
import LinuxSystem
import PortalCapture
import ScreenCapture
import SessionWatch
import UpcastClient
import WaylandCapture

/// An open screen, from which a thread grabs.
enum ScreenSource: Sendable {
    case screen(ScreenGrabber)
    case window(WindowGrabber)
    case wayland(WaylandConnection, WaylandGrabber.Settings, Monitor<OutputChoice>)
    case portal(SharedScreen)

    /// - Parameters:
    ///   - output: the chosen output of a compositor, which outlives a connection.
    ///   - answers: is told when this thread waits for the display server, which may take for ever.
    /// - Throws: what is missing, and how to get it.
    init(_ plan: ScreenPlan, _ output: Monitor<OutputChoice>, _ answers: AnswerWatch) throws(ScreenError) {
        switch plan.source {
        case .x11(let name): self = Self.x11(plan, try X11Connection(display: name, answers: answers))
        case .wayland(let socket, let settings, let instead):
            let compositor = try WaylandConnection(socket: socket, answers: answers)
            guard let lack = compositor.lack else {
                self = .wayland(compositor, settings, output)
                return
            }
            self = .portal(try Self.portal(instead: instead, of: settings, lack))
        case .portal(let settings): self = .portal(try SharedScreen(settings))
        }
    }

    private static func x11(_ plan: ScreenPlan, _ display: X11Connection) -> ScreenSource {
        guard let choice = plan.window else {
            let shell = ShellWatch()
            return .screen(ScreenGrabber(plan.settings, display) { shell?.showsOverview() })
        }
        let settings = WindowGrabber.Settings(
            choice: choice, rate: plan.settings.rate, showsPointer: plan.settings.showsPointer,
            rules: plan.settings.rules)
        return .window(WindowGrabber(settings, display))
    }

    /// - Parameters:
    ///   - settings: what was asked of the compositor.
    ///   - lack: why the compositor cannot be used.
    private static func portal(
        instead: SharedScreen.Settings?, of settings: WaylandGrabber.Settings, _ lack: String
    ) throws(ScreenError) -> SharedScreen {
        guard let instead else { throw noOutput(lack) }
        if let option = settings.output != nil ? "--monitor" : settings.part != nil ? "--area" : nil {
            guard (try? PortalConnection().facts()) != nil else { throw Self.noPortal(lack) }
            throw ScreenError(
                "\(lack), so that \(option) cannot be kept. Leave it out: then the desktop asks what to share")
        }
        do { return try SharedScreen(instead) } catch {
            throw ScreenError("\(lack), and \(error)", isTemporary: error.isTemporary)
        }
    }

    /// - Parameter lack: why a compositor that was named cannot be used.
    static func noOutput(_ lack: String) -> ScreenError {
        ScreenError(
            "\(lack), so that its outputs cannot be captured. Leave out --wayland: then the desktop of this session "
                + "asks what to share, as in GNOME and KDE Plasma")
    }

    /// - Parameter lack: why the compositor cannot be used.
    static func noPortal(_ lack: String) -> ScreenError {
        ScreenError("\(lack), and this session has no ScreenCast portal")
    }

    /// What happens to the screen between two broadcasts.
    enum BetweenBroadcasts {
        case closed
        /// It stays open, so that a user who has agreed is not asked again.
        case kept
        /// It stays open, and a thread follows it, so that secret windows stay known.
        case followed
    }

    var betweenBroadcasts: BetweenBroadcasts {
        switch self {
        case .screen, .window: .followed
        case .wayland: .closed
        case .portal: .kept
        }
    }

    /// Handles events of a screen that stays open between broadcasts: if the user ends the sharing, it does not begin
    /// again.
    ///
    /// - Returns: false if the screen has ended, and may come back.
    func goesOn() throws -> Bool {
        guard case .portal(let screen) = self else { return true }
        do { try screen.processWhileIdle() } catch let failure as SharedScreen.Failure {
            Self.report(failure)
            return false
        }
        return true
    }

    private static func report(_ failure: SharedScreen.Failure) {
        guard failure == .unknown else { return }
        Report.line(
            "upcast-screen: the desktop does not say whether the user has ended the sharing; it asks the user again")
    }

    /// Gets the user's permission, where one is needed.
    ///
    /// - Parameter stop: a descriptor; once it is readable, waiting for the user ends.
    /// - Returns: false if `stop` has ended the wait.
    func allow(_ plan: ScreenPlan, stop: CInt) throws -> Bool {
        guard case .portal(let screen) = self else { return true }
        return try screen.share(stop: stop, { true }) {
            switch $0 {
            case .asking: Self.reportAsking()
            case .hint(let text): Report.line("upcast-screen: \(text)")
            }
        }
    }

    /// Checks at the start that the screen can be captured.
    func check(_ plan: ScreenPlan) throws {
        switch self {
        case .screen(let grabber): try grabber.check()
        case .window(let grabber): try grabber.check()
        case .wayland(let compositor, let settings, let output):
            try WaylandGrabber.check(settings, output.withLock { $0 }, compositor)
        case .portal: break
        }
    }

    /// What has ended when the connection is lost, in words for the user.
    var name: String {
        switch self {
        case .screen, .window: "the X server"
        case .wayland: "the Wayland compositor"
        case .portal: "what the desktop shares"
        }
    }

    /// Follows an X11 display between two broadcasts, until it is told to stop.
    ///
    /// - Returns: false if the connection was lost.
    func follow(_ control: GrabControl) throws -> Bool {
        do {
            switch self {
            case .screen(let grabber): try grabber.run(nil, control, sent: {}) { _ in }
            case .window(let grabber): try grabber.run(nil, control) { _ in }
            case .wayland, .portal: preconditionFailure("nothing is followed")
            }
        } catch X11Connection.GrabError.lost {
            return false
        }
        return true
    }

    /// Sends frames until it is told to stop.
    ///
    /// - Returns: false if the connection was lost.
    func run(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ pause: PauseKeeper, _ control: GrabControl
    ) throws -> Bool {
        do {
            switch self {
            case .window(let grabber):
                try grabber.run(connection, control) { Self.report($0, isQuiet: plan.isQuiet) }
            case .screen(let grabber):
                try grabber.run(connection, control, sent: {}) { notice in
                    if case .inFront(let isInFront) = notice { try pause.set(.notInFront, !isInFront) }
                    Self.report(notice, isQuiet: plan.isQuiet)
                }
            case .wayland(let compositor, let settings, let output):
                try WaylandGrabber(settings, output, compositor, connection).run(control, sent: {}) {
                    Self.report($0, isQuiet: plan.isQuiet)
                }
            case .portal(let screen):
                try PortalGrabber(plan.settings.rate, screen, connection).run(control, sent: {}) {
                    Self.report($0, isQuiet: plan.isQuiet)
                }
            }
        } catch X11Connection.GrabError.lost {
            return false
        } catch WaylandConnection.Failure.lost {
            return false
        } catch let failure as SharedScreen.Failure {
            Self.report(failure)
            return false
        }
        return true
    }

    private static func report(_ notice: ScreenGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .capturing(let area): if !isQuiet { Report.line("capturing \(area.name)") }
        case .waiting(let text): Report.line("upcast-screen: \(text); viewers keep the last frame")
        case .inFront(let isInFront):
            guard !isQuiet else { return }
            Report.line(
                isInFront
                    ? "viewers see the screen"
                    : "another window is active, or the window manager names none; viewers see the curtain")
        case .hint(let text): Report.line("upcast-screen: \(text)")
        }
    }

    private static func report(_ notice: WindowGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .capturing(let area): if !isQuiet { Report.line("capturing the window at \(area.name)") }
        case .waiting(let text, let hasPicture):
            Report.line(
                "upcast-screen: \(text); viewers \(hasPicture ? "keep the last frame" : "see no picture yet")")
        case .hint(let text): Report.line("upcast-screen: \(text)")
        }
    }

    private static func reportAsking() {
        Report.line("upcast-screen: the desktop asks which monitor or window to share; waiting for the answer")
    }

    private static func report(_ notice: PortalGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .asking: reportAsking()
        case .capturing(let text): if !isQuiet { Report.line("capturing \(text)") }
        case .waiting(let text): Report.line("upcast-screen: \(text); viewers keep the last frame")
        case .hint(let text): Report.line("upcast-screen: \(text)")
        }
    }

    private static func report(_ notice: WaylandGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .capturing(let text): if !isQuiet { Report.line("capturing \(text)") }
        case .waiting(let text): Report.line("upcast-screen: \(text); viewers keep the last frame")
        case .hint(let text): Report.line("upcast-screen: \(text)")
        }
    }
}
