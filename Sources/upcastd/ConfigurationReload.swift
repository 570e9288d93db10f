internal import Configuration
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Privacy

/// SIGHUP: reads the configuration again, puts into force what can change while the daemon runs, and says what cannot.
/// Main thread.
///
/// A thread of its own reads the files, which may be on a disk that hangs: the main thread feeds the watchdog. The
/// environment is the process's own, and stays as it was at the start. A configuration that is wrong is reported,
/// and nothing changes.
struct ConfigurationReload {
    /// Nil: there is no file.
    let path: String?
    let environment: [String: String]
    let logger: Logger
    let output: LogOutput
    /// Becomes readable when the files have been read.
    let wakeUp: EventDescriptor
    private var level: LogConfiguration.Level
    /// What the reading thread found; nil until it is done.
    private let found = Monitor<Result<Configuration, Refusal>?>(nil)
    private var reader: WorkerThread?
    private var began = MediaTime.zero
    private var hasToldDelay = false
    /// Another SIGHUP came meanwhile.
    private var isWantedAgain = false

    /// What reading a few files takes at most on a disk that does not hang.
    private static let usualReading = MediaTime.seconds(5)

    init(
        path: String?, environment: [String: String], loaded: Configuration, logger: Logger, output: LogOutput
    ) throws(Errno) {
        wakeUp = try EventDescriptor()
        self.path = path
        self.environment = environment
        self.logger = logger
        self.output = output
        level = loaded.log.level
    }

    /// Begins to read; `apply` goes on when `wakeUp` is readable.
    mutating func begin(on host: BroadcastHost, at now: MediaTime) {
        // Log rotation has moved the file away, whatever becomes of the configuration.
        host.privacy.reopenAudit()
        guard let path else {
            logger.tell(.nothingToReload)
            return
        }
        guard reader == nil else {
            isWantedAgain = true
            return
        }
        (began, hasToldDelay) = (now, false)
        let (environment, found, wakeUp) = (environment, found, wakeUp)
        do {
            reader = try WorkerThread(name: "up-reload", stackBytes: 512 * 1024) {
                let result: Result<Configuration, Refusal>
                do throws(Refusal) { result = .success(try Self.load(path, environment)) } catch {
                    result = .failure(error)
                }
                found.signal { $0 = result }
                wakeUp.signal()
            }
        } catch {
            logFailure(["the thread that reads \(path) cannot be started: \(error)"])
        }
    }

    /// The files are being read.
    var isReading: Bool { reader != nil }

    /// Some times a second, and when `wakeUp` is readable: applies what has been read; what takes time goes on in
    /// `continueReload`.
    mutating func apply(on host: BroadcastHost, at now: MediaTime) {
        guard let reader else { return }
        wakeUp.clear()
        let result = found.withLock { found in
            defer { found = nil }
            return found
        }
        guard let result else { return tellDelay(at: now) }
        reader.join()
        self.reader = nil
        apply(result, on: host)
        if isWantedAgain {
            isWantedAgain = false
            begin(on: host, at: now)
        }
    }

    /// The daemon ends: a thread that still reads is left to itself.
    mutating func end() {
        reader?.abandon()
        reader = nil
    }

    private mutating func tellDelay(at now: MediaTime) {
        guard now - began >= Self.usualReading, !hasToldDelay else { return }
        hasToldDelay = true
        logger.tell(
            .configurationNotReloaded(
                why: "\(path ?? "") or a file that it names cannot be read for \(Self.usualReading): its disk hangs",
                isLate: true))
    }

    private mutating func apply(_ result: Result<Configuration, Refusal>, on host: BroadcastHost) {
        do throws(Refusal) {
            let new = try result.get()
            var report: ReloadReport
            do { report = try host.reloader.reload(new) } catch { throw Refusal(sentences: [error.sentence]) }
            report.needRestart.removeAll { Self.liveKeys.contains($0) }
            let newLevel = takeLevel(of: new, &report)
            // What is said of the change is said at whichever of the two levels says more.
            if let newLevel, newLevel < output.level { output.level = newLevel }
            log(report)
            if let newLevel { output.level = newLevel }
            if report.isEmpty, !host.reloader.isReloading {
                logger.tell(.configurationReloaded(applied: []))
            }
        } catch {
            logFailure(error.sentences)
        }
    }

    private func logFailure(_ sentences: [String]) {
        for sentence in sentences { logger.tell(.configurationNotReloaded(why: sentence)) }
    }

    /// Some times a second, while the host is reloading.
    func continueReload(on host: BroadcastHost) { log(host.reloader.goOn()) }

    /// The level that the file now says; nil where it says the same as before: a command may have set another since.
    private mutating func takeLevel(of new: Configuration, _ report: inout ReloadReport) -> Logger.Level? {
        guard new.log.level != level else { return nil }
        level = new.log.level
        report.applied.append("log.level \(level.rawValue)")
        return Logger.Level(rawValue: level.rawValue) ?? .info
    }

    /// Keys that are applied here, or need nothing.
    private static let liveKeys: Set<String> = ["log.level"]

    private func log(_ report: ReloadReport) {
        if !report.applied.isEmpty {
            logger.tell(.configurationReloaded(applied: report.applied))
        }
        for sentence in report.failed { logger.tell(.configurationNotApplied(why: sentence)) }
        if !report.needRestart.isEmpty { logger.tell(.configurationWaitsForARestart(keys: report.needRestart)) }
    }

    private struct Refusal: Error { var sentences: [String] }

    /// By the same rules as at the start.
    private static func load(_ path: String, _ environment: [String: String]) throws(Refusal) -> Configuration {
        let new: Configuration
        do { new = try Configuration.load(path: path, environment: environment) } catch {
            throw Refusal(sentences: error.problems.map(\.description))
        }
        let plan = new.memoryPlan
        guard plan.fits else {
            throw Refusal(sentences: [
                "\(plan.excess); upcastd --plan shows it"
            ])
        }
        guard !new.destinations.isEmpty else { throw Refusal(sentences: [noDestination]) }
        // A key that cannot be read is final for a destination: where the daemon starts it is seen at once, but here a
        // broadcast would end for it.
        let unusable = new.destinationProblems(environment: environment)
        guard unusable.isEmpty else { throw Refusal(sentences: unusable.map(\.description)) }
        return new
    }
}
