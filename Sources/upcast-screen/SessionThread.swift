import Glibc
import LinuxSystem
import MediaCore
import SessionWatch

/// The thread that follows the lock of the session. No other thread waits for a service that does not answer: until it
/// answers, the state is unknown, which counts as locked.
final class SessionThread: Sendable {
    struct News: Equatable, Sendable {
        var state: SessionState
        /// The service that does not answer; nil for none.
        var silent: String?

        static let shown = News(state: [])

        /// Tells the user why viewers do not see the screen.
        func tell() {
            guard let silent else {
                return Report.line("upcast-screen: \(state.text); viewers see the curtain until that is over")
            }
            Report.line(
                "upcast-screen: \(silent) does not answer, so that \(state.text); viewers see the curtain until it "
                    + "answers. With --no-curtain-when-locked they see the screen, locked or not")
        }
    }

    /// Nil until something is known.
    private let news = Monitor<News?>(nil)
    private let changed: EventDescriptor
    private let stopping: EventDescriptor
    private let thread = Monitor<WorkerThread?>(nil)
    private static let retryMilliseconds: CInt = 2000
    /// How long `stop` waits for the thread, which may be in a call of up to a second.
    private static let endPatience = MediaTime.milliseconds(100)

    /// Readable when there is news since the last `look`.
    var descriptor: CInt { changed.raw }

    init() throws(Errno) { (changed, stopping) = (try EventDescriptor(), try EventDescriptor()) }

    func start() throws(Errno) {
        let worker = try WorkerThread(name: "session", stackBytes: 512 * 1024) { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// Ends the thread. If a call keeps it longer, it is left to the end of the process.
    func stop() {
        stopping.signal()
        _ = thread.withLock { $0 }?.join(until: MonotonicClock().now() + Self.endPatience)
    }

    /// The state now.
    ///
    /// - Parameters:
    ///   - deadline: how long to wait until something is known.
    ///   - stop: a descriptor that ends waiting when it is readable.
    func look(until deadline: MediaTime, stop: CInt) -> News {
        let clock = MonotonicClock()
        while true {
            changed.clear()
            if let news = news.withLock({ $0 }) { return news }
            let left = (deadline - clock.now()).pollTimeout
            guard left > 0, !Self.wait([stop, changed.raw], milliseconds: left) else {
                return News(state: .unknown, silent: "D-Bus")
            }
        }
    }

    private func run() {
        var wasSilent = false
        while true {
            if let watch = SessionWatch(stop: stopping.raw) {
                follow(watch)
                wasSilent = true
            } else if !wasSilent {
                return tell(News(state: []))
            }
            // A silent bus that has ended may have known that the session is locked: the state stays unknown.
            if Self.wait([stopping.raw], milliseconds: Self.retryMilliseconds) { return }
        }
    }

    /// Follows the session until the thread has to end, or a service does not answer.
    private func follow(_ watch: SessionWatch) {
        while true {
            let state = watch.look()
            tell(News(state: state, silent: watch.silent))
            guard watch.silent == nil else { return }
            let buses = watch.descriptors
            if Self.wait([stopping.raw, buses.system, buses.user], milliseconds: -1) { return }
        }
    }

    private func tell(_ next: News) {
        let isNew = news.signal { news in
            defer { news = next }
            return news != next
        }
        if isNew { changed.signal() }
    }

    /// Waits for one of several descriptors, and ignores those below 0. Returns whether the first one is readable.
    private static func wait(_ descriptors: [CInt], milliseconds: CInt) -> Bool {
        var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
        return waiting[0].revents != 0
    }
}
