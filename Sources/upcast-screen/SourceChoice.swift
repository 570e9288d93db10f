import ScreenCapture
import WaylandCapture

/// Which screen is captured: an X11 display, or an output of a Wayland compositor. Pure.
enum SourceChoice: Equatable, Sendable {
    /// Nil for the display of the environment.
    case x11(display: String?)
    case wayland(socket: String, WaylandGrabber.Settings)

    /// The option names the screen; without one, it is the session's: a Wayland session has an X display as well, which
    /// has no picture of the desktop.
    ///
    /// - Parameter session: `WAYLAND_DISPLAY`.
    /// - Returns: the compositor's socket; nil for X11.
    static func compositor(
        display: String?, wayland: String?, session: String?
    ) throws(ScreenPlan.Mistake) -> String? {
        guard display == nil || wayland == nil else {
            throw ScreenPlan.Mistake(description: "--display and --wayland exclude each other")
        }
        return wayland ?? (display == nil ? session : nil)
    }
}

extension UpcastScreen {
    /// The socket of the Wayland compositor that is captured; nil for X11.
    func compositor() throws(ScreenPlan.Mistake) -> String? {
        try SourceChoice.compositor(
            display: display, wayland: wayland, session: ScreenPlan.environment("WAYLAND_DISPLAY"))
    }

    /// A compositor tells nobody where windows are. An option that promises to hide one is refused, not forgotten.
    func refuseRulesOnWayland() throws(ScreenPlan.Mistake) {
        let given = [("--hide", !hide.isEmpty), ("--hide-file", hideFile != nil),
            ("--hide-notifications", hideNotifications), ("--hide-when-unfocused", !hideWhenUnfocused.isEmpty),
        ].filter(\.1).map(\.0)
        guard let first = given.first else { return }
        throw ScreenPlan.Mistake(
            description: "\(first) works on X11 only: a Wayland compositor tells no client where windows are. Let the "
                + "compositor hide them: block-out-from \"screencast\" in niri, no_screen_share in Hyprland; or hide "
                + "parts of the picture with upcastctl region add")
    }
}
