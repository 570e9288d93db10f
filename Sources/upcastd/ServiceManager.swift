internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline

/// Notifies the service manager: ready, reloading, stopping, status and watchdog. Main thread.
///
/// Without a service manager, all methods do nothing.
struct ServiceManager {
    private let notifier: ServiceNotifier?
    private let watchdog: ServiceWatchdog?
    private let logger: Logger
    private var lastStatus = ""
    private var hasFailed = false
    private var isStarved = false

    /// The minimum time for one piece of work before the watchdog is no longer fed.
    private static let leastPatience = MediaTime.seconds(2)

    init(environment: [String: String], logger: Logger) {
        notifier = ServiceNotifier(environment: environment)
        watchdog = notifier == nil ? nil : ServiceWatchdog(environment: environment)
        self.logger = logger
    }

    /// The time for one piece of work; nil without a watchdog.
    var patience: MediaTime? {
        watchdog.map { max(Self.leastPatience, MediaTime(nanoseconds: $0.timeout.nanoseconds / 2)) }
    }

    var wantsStatus: Bool { notifier != nil }

    mutating func ready(_ status: String) {
        lastStatus = status
        tell(.ready, .status(status))
    }

    mutating func reloading(since time: MediaTime) { tell(.reloading(since: time), .status("reloading")) }

    /// - Parameter longest: the maximum time of the stop.
    mutating func stopping(_ status: String, longest: MediaTime) {
        tell(.stopping, .status(status), .needs(longest))
    }

    /// Sends the status if it changed. Must be called at most once a second.
    mutating func note(_ status: String) {
        guard status != lastStatus else { return }
        lastStatus = status
        tell(.status(status))
    }

    /// Feeds the watchdog unless a thread is blocked. Must be called some times a second.
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
