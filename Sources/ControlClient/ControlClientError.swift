package import ControlProtocol

/// Why a request to a daemon failed, as a sentence for people.
package enum ControlClientError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// There is nothing at the socket's path.
    case noSocket(String)
    /// The socket exists, but no process has it open. So there is no daemon, rather than one that does not answer.
    case nobodyListens(String)
    /// The daemon has the request, or will have it, and did not answer in time. The request may have been carried out
    /// or not.
    case unanswered(String)
    /// An error that the daemon reported.
    case refused(status: Int, ErrorReport)
    /// The server that answered is not this daemon, or is one that this version does not understand.
    case unintelligible(String)
    /// The capture socket answered.
    case captureSocket
    /// A file or program that the user named cannot be used.
    case unusable(String)

    /// The error as the daemon would report it, for programs that read JSON.
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

    /// Printable, whatever the daemon sent.
    package var description: String {
        switch self {
        case .unreachable(let reason), .noSocket(let reason), .nobodyListens(let reason), .unanswered(let reason),
            .unusable(let reason):
            reason
        case .refused(let status, let report):
            // The code of a refused request is for programs. The message says what is wrong, and how to correct it.
            TerminalText.printable(
                [400, 401, 404, 409].contains(status)
                    ? "refused: \(report.message)" : "the daemon answered \(status) \(report.code): \(report.message)")
        case .unintelligible(let reason): "the daemon's answer is not understood: \(TerminalText.printable(reason))"
        case .captureSocket:
            "this is the capture socket; the control socket is needed (by default control.sock)"
        }
    }
}
