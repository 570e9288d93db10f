import ScreenCapture
import UpcastClient
import WaylandCapture

/// An open screen, from which a thread grabs.
enum ScreenSource: Sendable {
    case x11(X11Connection)
    case wayland(WaylandConnection, WaylandGrabber.Settings)

    /// - Throws: what is missing, and how to get it.
    init(_ plan: ScreenPlan) throws(ScreenError) {
        switch plan.source {
        case .x11(let display): self = .x11(try X11Connection(display: display))
        case .wayland(let socket, let settings): self = .wayland(try WaylandConnection(socket: socket), settings)
        }
    }

    /// Says at the start what is wrong from the start.
    func check(_ plan: ScreenPlan) throws {
        switch self {
        case .x11(let display):
            _ = try plan.settings.area.place(
                width: display.width, height: display.height, monitors: try display.monitors())
        case .wayland(let compositor, let settings): try WaylandGrabber.check(settings, compositor)
        }
    }

    /// What ends when the connection is lost.
    static func name(_ plan: ScreenPlan) -> String {
        switch plan.source {
        case .x11: "the X server"
        case .wayland: "the Wayland compositor"
        }
    }

    /// Sends frames until it is told to stop.
    ///
    /// - Returns: false if the connection was lost.
    func run(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ pause: PauseKeeper, _ control: GrabControl
    ) throws -> Bool {
        do {
            switch self {
            case .x11(let display):
                if let choice = plan.window {
                    let settings = WindowGrabber.Settings(
                        choice: choice, rate: plan.settings.rate, showsPointer: plan.settings.showsPointer,
                        rules: plan.settings.rules)
                    try WindowGrabber(settings, display, connection).run(control) {
                        Self.report($0, isQuiet: plan.isQuiet)
                    }
                    return true
                }
                try ScreenGrabber(plan.settings, display, connection).run(control, sent: {}) { notice in
                    if case .inFront(let isInFront) = notice { try pause.set(.notInFront, !isInFront) }
                    Self.report(notice, isQuiet: plan.isQuiet)
                }
            case .wayland(let compositor, let settings):
                try WaylandGrabber(settings, compositor, connection).run(control, sent: {}) {
                    Self.report($0, isQuiet: plan.isQuiet)
                }
            }
        } catch X11Connection.GrabError.lost {
            return false
        } catch WaylandConnection.Failure.lost {
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
            Report.line(isInFront ? "viewers see the screen" : "another window is active; viewers see the curtain")
        }
    }

    private static func report(_ notice: WindowGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .capturing(let area): if !isQuiet { Report.line("capturing the window at \(area.name)") }
        case .waiting(let text): Report.line("upcast-screen: \(text); viewers keep the last frame")
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
