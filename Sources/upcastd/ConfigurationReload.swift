internal import Configuration
internal import Control
internal import ControlProtocol
internal import Endpoints
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Privacy
internal import Webhooks

/// Reloads the configuration on SIGHUP: applies what can change at run time, and reports what cannot. Main thread.
///
/// A separate thread reads the files, because a disk may block and the main thread feeds the watchdog. The environment
/// stays as it was at the start. An invalid configuration is reported, and nothing changes.
struct ConfigurationReload {
    /// Nil without a file.
    let path: String?
    let environment: [String: String]
    let logger: Logger
    let output: LogOutput
    /// Becomes readable when the files have been read.
    let wakeUp: EventDescriptor
    private let webhooks: WebhookCenter
    /// Nil without `control.listen`.
    private let tokens: ControlTokens?
    private var level: LogConfiguration.Level
    /// As they were loaded last.
    private var hooks: [WebhookConfiguration]
    /// The result of the reading thread; nil until it is done.
    private let found = Monitor<Result<Loaded, Refusal>?>(nil)
    private var reader: WorkerThread?
    private var began = MediaTime.zero
    private var hasToldDelay = false
    /// Another SIGHUP or request came during the reload.
    private var isWantedAgain = false
    private var answer = ReloadAnswer()
    private var failures: [String] = []
    /// Why the files could not be loaded when they were read last.
    private var loadFailures: [String] = []

    /// The time after which a slow disk is reported.
    private static let usualReading = MediaTime.seconds(5)

    init(
        path: String?, environment: [String: String], loaded: Configuration, logger: Logger, output: LogOutput,
        webhooks: WebhookCenter, tokens: ControlTokens?
    ) throws(Errno) {
        wakeUp = try EventDescriptor()
        self.path = path
        self.environment = environment
        self.logger = logger
        self.output = output
        (self.webhooks, self.tokens) = (webhooks, tokens)
        level = loaded.log.level
        hooks = loaded.webhooks
    }

    /// Starts reading. `apply` continues when `wakeUp` is readable.
    ///
    /// - Parameter continues: whether the last reload's request has not been answered yet.
    mutating func begin(on host: BroadcastHost, at now: MediaTime, continues: Bool = false) {
        // Log rotation may have renamed the file, even if the configuration is invalid.
        host.privacy.reopenAudit()
        guard let path else {
            loadFailures = ["the daemon was started without a configuration file"]
            logger.tell(.nothingToReload)
            return
        }
        guard reader == nil else {
            isWantedAgain = true
            return
        }
        (began, hasToldDelay) = (now, false)
        if !continues, !host.reloader.isReloading { (answer, failures) = (ReloadAnswer(), []) }
        loadFailures = []
        let (environment, found, wakeUp) = (environment, found, wakeUp)
        do {
            reader = try WorkerThread(name: "up-reload", stackBytes: 512 * 1024) {
                let result: Result<Loaded, Refusal>
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

    var isReading: Bool { reader != nil }

    /// The outcome of the last reload, once it has ended.
    var outcome: Result<ReloadAnswer, CommandRefusal> {
        let failures = failures + loadFailures
        return failures.isEmpty
            ? .success(answer)
            : .failure(CommandRefusal(code: .notReloaded, sentence: failures.joined(separator: "\n")))
    }

    /// Applies the files that have been read. Must be called some times a second and when `wakeUp` is readable. Longer
    /// work continues in `continueReload`.
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
            begin(on: host, at: now, continues: true)
        }
    }

    /// Abandons a thread that still reads, because the daemon exits.
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

    private mutating func apply(_ result: Result<Loaded, Refusal>, on host: BroadcastHost) {
        do throws(Refusal) {
            let loaded = try result.get()
            let new = loaded.configuration
            var report: ReloadReport
            do { report = try host.reloader.reload(new) } catch { throw Refusal(sentences: [error.sentence]) }
            report.needRestart.removeAll { Self.liveKeys.contains($0) }
            takeTokens(of: loaded, &report)
            takeWebhooks(of: new, &report)
            let newLevel = takeLevel(of: new, &report)
            // The change is logged at the more verbose of the two levels.
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

    private mutating func logFailure(_ sentences: [String]) {
        loadFailures += sentences
        for sentence in sentences { logger.tell(.configurationNotReloaded(why: sentence)) }
    }

    /// Must be called some times a second while the host is reloading.
    mutating func continueReload(on host: BroadcastHost) { log(host.reloader.goOn()) }

    /// The new level of the file; nil if it is unchanged, because a command may have set another level since.
    private mutating func takeLevel(of new: Configuration, _ report: inout ReloadReport) -> Logger.Level? {
        guard new.log.level != level else { return nil }
        level = new.log.level
        report.applied.append("log.level \(level.rawValue)")
        return Logger.Level(rawValue: level.rawValue) ?? .info
    }

    /// Whether a webhook could not be started. Then the next reload starts all of them again.
    private var isHookMissing = false

    private mutating func takeWebhooks(of new: Configuration, _ report: inout ReloadReport) {
        let old = hooks
        guard new.webhooks != old || isHookMissing else { return }
        func before(_ name: String) -> WebhookConfiguration? { old.first { $0.name == name } }
        do {
            try webhooks.replace(with: new.webhookSettings(environment: environment)) { name in
                !isHookMissing && before(name) == new.webhooks.first { $0.name == name }
            }
            (hooks, isHookMissing) = (new.webhooks, false)
        } catch {
            isHookMissing = true
            report.failed.append("a webhook cannot be started: \(error)")
            return
        }
        let names = new.webhooks.map(\.name)
        report.applied += old.filter { !names.contains($0.name) }.map { "webhook \($0.name) removed" }
        for hook in new.webhooks where before(hook.name) != hook {
            report.applied.append("webhook \(hook.name) \(before(hook.name) == nil ? "added" : "changed")")
        }
    }

    /// The files of tokens can change without a change of the configuration.
    private func takeTokens(of loaded: Loaded, _ report: inout ReloadReport) {
        guard let tokens, let new = loaded.tokens else { return }
        report.needRestart.removeAll { Self.tokenKeys.contains($0) }
        if tokens.replace(operator: new.operator, metrics: new.metrics) { report.applied.append("control tokens") }
    }

    /// Keys that are applied here.
    private static let liveKeys: Set<String> = ["log.level"]
    private static let tokenKeys: Set<String> = ["control.token_file", "control.metrics_token_file"]

    private mutating func log(_ report: ReloadReport) {
        answer.applied += report.applied
        // Each reload names all keys that wait.
        answer.nextBroadcast += report.nextBroadcast.filter { !answer.nextBroadcast.contains($0) }
        answer.needRestart += report.needRestart.filter { !answer.needRestart.contains($0) }
        failures += report.failed
        if !report.applied.isEmpty {
            logger.tell(.configurationReloaded(applied: report.applied))
        }
        for sentence in report.failed { logger.tell(.configurationNotApplied(why: sentence)) }
        if !report.nextBroadcast.isEmpty {
            logger.tell(.configurationWaitsForTheNextBroadcast(keys: report.nextBroadcast))
        }
        if !report.needRestart.isEmpty { logger.tell(.configurationWaitsForARestart(keys: report.needRestart)) }
    }

    private struct Refusal: Error { var sentences: [String] }

    /// The contents of the files.
    private struct Loaded {
        var configuration: Configuration
        /// Nil without `control.listen`.
        var tokens: (operator: ControlToken, metrics: ControlToken?)?
    }

    /// Loads the configuration by the same rules as at the start, except for the curtain's picture: decoding it takes
    /// memory, which a broadcast may need.
    private static func load(_ path: String, _ environment: [String: String]) throws(Refusal) -> Loaded {
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
        // An unreadable key file is a permanent failure of a destination, and would end its broadcast.
        let unusable = new.destinationProblems(environment: environment) + new.roleProblems()
        guard unusable.isEmpty else { throw Refusal(sentences: unusable.map(\.description)) }
        do { _ = try ControlRoleTable(new.control) } catch { throw Refusal(sentences: ["\(error)"]) }
        do throws(SecretError) {
            let remote = try new.control.remote(environment: environment)
            return Loaded(
                configuration: new,
                tokens: remote.map { remote in
                    (ControlToken(remote.token.revealed), remote.metricsToken.map { ControlToken($0.revealed) })
                })
        } catch {
            throw Refusal(sentences: ["\(ControlConfiguration.key(of: error)): \(error)"])
        }
    }
}
