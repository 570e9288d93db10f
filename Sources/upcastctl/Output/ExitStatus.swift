import ControlClient

/// How this program ends; scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    /// The daemon refused, or it is not so: not healthy, not ready, a configuration that is wrong.
    case refused = 1
    /// Nobody answers, or somebody who is not this daemon.
    case unreachable = 2
    /// EX_USAGE of sysexits.h.
    case usage = 64
}

extension ControlClientError {
    var exitStatus: ExitStatus {
        switch self {
        case .unreachable, .noSocket, .nobodyListens, .unanswered, .unintelligible: .unreachable
        case .refused, .unusable: .refused
        }
    }
}
