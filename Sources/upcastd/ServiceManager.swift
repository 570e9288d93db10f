internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline

/// The daemon as its service manager sees it: ready, reloading, stopping, what it does, and that it is well. Main
/// thread.
///
/// Without a service manager all of it does nothing.
struct ServiceManager {
    private let notifier: ServiceNotifier?
    private let watchdog: ServiceWatchdog?
    private let logger: Logger
    private var lastStatus = ""
    private var hasFailed = false
    private var isStarved = false

    /// The least that one piece of work may take before the watchdog is no longer fed.
    private static let leastPatience = MediaTime.seconds(2)

    init(environment: [String: String], logger: Logger) {
        notifier = ServiceNotifier(environment: environment)
        watchdog = notifier == nil ? nil : ServiceWatchdog(environment: environment)
        self.logger = logger
    }

    /// What one piece of work may take; nil where there is no watchdog.
    var patience: MediaTime? {
        watchdog.map { max(Self.leastPatience, MediaTime(nanoseconds: $0.timeout.nanoseconds / 2)) }
    }

    /// Somebody wants to know what the daemon does.
    var wantsStatus: Bool { notifier != nil }

    mutating func ready(_ status: String) {
        lastStatus = status
        tell(.ready, .status(status))
    }

    mutating func reloading(since time: MediaTime) { tell(.reloading(since: time), .status("reloading")) }

    /// - Parameter longest: what the stop may take.
    mutating func stopping(_ status: String, longest: MediaTime) {
        tell(.stopping, .status(status), .needs(longest))
    }

    /// Tells what the daemon does where that has changed. Once a second at most.
    mutating func note(_ status: String) {
        guard status != lastStatus else { return }
        lastStatus = status
        tell(.status(status))
    }

    /// Some times a second: says that the process is well, unless a thread hangs.
    mutating func feedWatchdog(wedged: String?) {
        if let wedged {
            guard !isStarved else { return }
            isStarved = true
            logger.tell(.threadHangs(why: wedged, isRestarted: watchdog != nil))
            return
        }
        if isStarved {
            isStarved = false
            logger.tell(.threadRecovered)
        }
        if watchdog != nil { tell(.watchdog) }
    }

    private mutating func tell(_ news: ServiceNotifier.News...) {
        guard let notifier else { return }
        do throws(Errno) {
            try notifier.tell(news)
            hasFailed = false
        } catch {
            guard !hasFailed else { return }
            hasFailed = true
            logger.tell(.serviceManagerUnreachable(why: "\(error)"))
        }
    }
}
