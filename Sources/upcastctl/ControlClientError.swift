import ControlProtocol

/// Why a daemon could not be asked, as a sentence for people.
enum ControlClientError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// The daemon's own error.
    case refused(status: Int, ErrorReport)
    /// Whoever answered is not this daemon, or is one that this tool does not understand.
    case unintelligible(String)
    /// Something that this tool was given cannot be used: a file, a program.
    case unusable(String)

    var exitStatus: ExitStatus {
        switch self {
        case .unreachable, .unintelligible: .unreachable
        case .refused, .unusable: .refused
        }
    }

    /// As the daemon would have written it, for programs that read JSON.
    var report: ErrorReport {
        switch self {
        case .unreachable: ErrorReport(code: "unreachable", message: description)
        case .refused(_, let report): report
        case .unintelligible: ErrorReport(code: "unintelligible", message: description)
        case .unusable: ErrorReport(code: "unusable", message: description)
        }
    }

    /// Printable, whatever the daemon said.
    var description: String {
        switch self {
        case .unreachable(let reason), .unusable(let reason): reason
        case .refused(let status, let report):
            TerminalText.printable("the daemon answered \(status) \(report.code): \(report.message)")
        case .unintelligible(let reason): "the daemon's answer is not understood: \(TerminalText.printable(reason))"
        }
    }
}
