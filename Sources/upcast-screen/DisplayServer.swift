import Grabbing
import MediaCore
import ScreenCapture

/// The server that has the pictures, as messages name it. Pure.
struct DisplayServer: Equatable, Sendable {
    /// Such as "the X server :0".
    let name: String
    /// Why it may not answer.
    var causes = "it is stopped, or hangs"
    /// A command that asks it, too; nil for none.
    var question: String?

    static func x11(_ display: String?) -> DisplayServer {
        let display = X11Connection.name(display)
        return DisplayServer(
            name: "the X server \(display)", causes: "it is stopped, or hangs, or a program has grabbed it",
            question: "xset -display \(display) q")
    }

    static func wayland(_ socket: String) -> DisplayServer {
        DisplayServer(name: "the Wayland compositor \(socket)")
    }

    static let desktop = DisplayServer(name: "the desktop")

    /// - Parameter consequence: what happens until it answers.
    func silence(_ consequence: String) -> String {
        let hint = question.map { " (\($0) asks it, too)" } ?? ""
        let time = AnswerSilence.limit.milliseconds / 1000
        return "\(name) has not answered for \(time) s: \(causes); \(consequence) until it answers" + hint
    }

    /// Tells the user.
    func tellOfSilence(_ consequence: String) { Report.line("upcast-screen: \(silence(consequence))") }
}

extension SourceChoice {
    var server: DisplayServer {
        switch self {
        case .x11(let display): .x11(display)
        case .wayland(let socket, _, _): .wayland(socket)
        case .portal: .desktop
        }
    }
}
