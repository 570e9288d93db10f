import ControlClient

/// The exit status. Scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    /// The daemon refused, or the answer is no: not healthy, not ready, invalid configuration.
    case refused = 1
    /// The daemon does not answer, or another server answers.
    case unreachable = 2
    /// EX_USAGE of sysexits.h.
    case usage = 64
}

extension ControlClientError {
    var exitStatus: ExitStatus {
        switch self {
        case .unreachable, .noSocket, .nobodyListens, .unanswered, .unintelligible, .captureSocket: .unreachable
        case .refused, .unusable: .refused
        }
    }
}
