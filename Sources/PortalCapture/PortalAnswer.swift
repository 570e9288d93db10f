internal import Grabbing

/// The user does not allow the capture of the screen, or has withdrawn it; one sentence for people.
package struct SharingRefused: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }

    package static let ended = SharingRefused(
        "the user has ended the sharing on the desktop, or closed the shared window; the next start of upcast-screen "
            + "asks again")
}

/// A portal's answer to a request. Pure.
package enum PortalAnswer: Equatable, Sendable {
    /// `code`: 0 granted, 1 refused by the user, other values: ended in another way.
    case response(code: UInt32)
    case error(name: String, text: String)

    /// - Parameter step: the request that was answered.
    /// - Throws: `ScreenError` or `SharingRefused`, which say what to do; `NoAnswer`.
    package func check(_ step: PortalStep) throws {
        switch self {
        case .response(code: 0): return
        case .response(code: 1):
            throw SharingRefused(
                "the user has not allowed to share a screen; start upcast-screen again, and choose one in the dialogue "
                    + "of the desktop")
        case .response: throw NoAnswer.ended(step)
        case .error(let name, let text): throw Self.failure(step, name, text)
        }
    }

    /// The portal ended the request without a reason.
    package enum NoAnswer: Error, Equatable { case ended(PortalStep) }

    static func ended(_ step: PortalStep) -> ScreenError {
        ScreenError(
            "the desktop has ended the dialogue of its ScreenCast portal (\(step.call)) without an answer; the log of "
                + "xdg-desktop-portal says why: journalctl --user -u 'xdg-desktop-portal*'", isTemporary: true)
    }

    private static func failure(_ step: PortalStep, _ name: String, _ text: String) -> ScreenError {
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "org.freedesktop.DBus.Error.Spawn.ChildExited":
            return ScreenError(
                "this session has no ScreenCast portal: xdg-desktop-portal does not run and cannot be started. On "
                    + "Debian: apt install xdg-desktop-portal, and xdg-desktop-portal-gnome, -kde or -wlr",
                isTemporary: true)
        // A portal without the ScreenCast interface reports that the request is wrong.
        case "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.DBus.Error.InvalidArgs" where step == .facts || !name.hasSuffix("InvalidArgs"):
            return ScreenError(
                "xdg-desktop-portal offers no ScreenCast: the part for this desktop is missing, or PipeWire does not "
                    + "run. On Debian: apt install pipewire wireplumber, and xdg-desktop-portal-gnome, -kde or -wlr",
                isTemporary: true)
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout":
            return ScreenError("xdg-desktop-portal does not answer (\(step.call)); restart it: "
                + "systemctl --user restart xdg-desktop-portal", isTemporary: true)
        default:
            let cause = text.isEmpty ? name : text
            let cure = step == .remote ? "; PipeWire must run for this user" : ""
            return ScreenError(
                "xdg-desktop-portal refuses to share a screen (\(step.call)): \(cause)\(cure)", isTemporary: true)
        }
    }
}

/// The requests to a portal, in their order.
package enum PortalStep: CaseIterable, Sendable {
    case facts, session, selection, start, remote

    /// The name of the call in the portal's documentation.
    package var call: String {
        switch self {
        case .facts: "the properties of org.freedesktop.portal.ScreenCast"
        case .session: "CreateSession"
        case .selection: "SelectSources"
        case .start: "Start"
        case .remote: "OpenPipeWireRemote"
        }
    }
}
