import PortalCapture
import WaylandCapture

/// Which screen is captured: an X11 display, an output of a Wayland compositor, or what the desktop lets the user
/// share. Pure.
enum SourceChoice: Equatable, Sendable {
    /// Nil for the display of the environment.
    case x11(display: String?)
    /// - Parameter instead: the portal to use if the compositor gives no pictures. Nil if an option named the
    ///   compositor, as a portal belongs to the session.
    case wayland(socket: String, WaylandGrabber.Settings, instead: SharedScreen.Settings?)
    case portal(SharedScreen.Settings)

    /// The name of the compositor's output; nil if none was asked for.
    var output: String? {
        if case .wayland(_, let settings, _) = self { settings.output } else { nil }
    }

    /// An option names the screen; without one, it is the session's. A Wayland session also has an X display, which has
    /// no picture of the desktop.
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
        guard !portal || (display == nil && wayland == nil) else {
            throw ScreenPlan.Mistake(
                description: "--portal excludes --display and --wayland: the portal belongs to the session")
        }
        return portal ? nil : try SourceChoice.compositor(
            display: display, wayland: wayland, session: ScreenPlan.environment("WAYLAND_DISPLAY"))
    }

    /// The request to a portal.
    var sharing: SharedScreen.Settings {
        get throws(ScreenPlan.Mistake) {
            SharedScreen.Settings(
                rate: try ScreenPlan.rate(fps), showsPointer: pointer,
                token: RestoreToken(
                    client: name, stateFolder: ScreenPlan.environment("XDG_STATE_HOME"),
                    home: ScreenPlan.environment("HOME")),
                compositor: ScreenPlan.environment("WAYLAND_DISPLAY"),
                runtimeFolder: ScreenPlan.environment("XDG_RUNTIME_DIR"),
                pipewire: PipeWireSocket(
                    folder: ScreenPlan.environment("PIPEWIRE_RUNTIME_DIR")
                        ?? ScreenPlan.environment("XDG_RUNTIME_DIR"),
                    remote: ScreenPlan.environment("PIPEWIRE_REMOTE")))
        }
    }

    /// The desktop asks the user what to share, so no option can choose it.
    func refuseChoicesOfPortal() throws(ScreenPlan.Mistake) {
        let given = [("--monitor", monitor != nil), ("--area", area != nil), ("--window", window != nil)]
        guard let first = given.first(where: \.1)?.0 else { return }
        throw ScreenPlan.Mistake(
            description: "--portal and \(first) exclude each other: the desktop asks the user what to share")
    }

    /// A compositor tells no client where windows are. Options that promise to hide windows are refused, not ignored.
    func refuseRulesOnWayland() throws(ScreenPlan.Mistake) {
        let given = [("--hide", !hide.isEmpty), ("--hide-file", !hideFile.isEmpty),
            ("--hide-notifications", hideNotifications), ("--hide-when-unfocused", !hideWhenUnfocused.isEmpty),
        ].filter(\.1).map(\.0)
        guard let first = given.first else { return }
        throw ScreenPlan.Mistake(
            description: "\(first) works on X11 only: a Wayland compositor tells no client where windows are. Let the "
                + "compositor hide them: block-out-from \"screencast\" in niri, no_screen_share in Hyprland; share one "
                + "window in GNOME and KDE Plasma; or hide parts of the picture with upcastctl region add")
    }
}
