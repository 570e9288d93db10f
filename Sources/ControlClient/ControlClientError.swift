package import ControlProtocol

/// Why a daemon could not be asked, as a sentence for people.
package enum ControlClientError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// There is nothing at the socket's path.
    case noSocket(String)
    /// The socket is there, and no process has it open: there is no daemon, and not merely none that answers.
    case nobodyListens(String)
    /// The daemon has the request, or will have it, and did not answer in time: what it asked for may be done or not.
    case unanswered(String)
    /// The daemon's own error.
    case refused(status: Int, ErrorReport)
    /// Whoever answered is not this daemon, or is one that this version does not understand.
    case unintelligible(String)
    /// The capture socket answered.
    case captureSocket
    /// Something that the asker was given cannot be used: a file, a program.
    case unusable(String)

    /// As the daemon would have written it, for programs that read JSON.
    package var report: ErrorReport {
        switch self {
        case .unreachable, .noSocket, .nobodyListens, .unanswered:
            ErrorReport(code: "unreachable", message: description)
        case .refused(_, let report): report
        case .unintelligible: ErrorReport(code: "unintelligible", message: description)
        case .captureSocket: ErrorReport(code: "wrong_socket", message: description)
        case .unusable: ErrorReport(code: "unusable", message: description)
        }
    }

    /// Printable, whatever the daemon said.
    package var description: String {
        switch self {
        case .unreachable(let reason), .noSocket(let reason), .nobodyListens(let reason), .unanswered(let reason),
            .unusable(let reason):
            reason
        case .refused(let status, let report):
            // The code of a refused request is for programs. The message says what is wrong, and what would be right.
            TerminalText.printable(
                [400, 401, 404, 409].contains(status)
                    ? "refused: \(report.message)" : "the daemon answered \(status) \(report.code): \(report.message)")
        case .unintelligible(let reason): "the daemon's answer is not understood: \(TerminalText.printable(reason))"
        case .captureSocket:
            "this is the capture socket; the control socket is needed (by default control.sock)"
        }
    }
}
