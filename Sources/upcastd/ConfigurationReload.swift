internal import Configuration
internal import LinuxSystem
internal import Logging
internal import Pipeline

/// SIGHUP: reads the configuration again, puts into force what can change while the daemon runs, and says what cannot.
/// Main thread.
///
/// The environment is the process's own, and stays as it was at the start. A configuration that is wrong is reported,
/// and nothing changes.
struct ConfigurationReload {
    /// Nil: there is no file.
    let path: String?
    let environment: [String: String]
    let logger: Logger
    let output: LogOutput
    private var level: LogConfiguration.Level

    init(
        path: String?, environment: [String: String], loaded: Configuration, logger: Logger, output: LogOutput
    ) {
        self.path = path
        self.environment = environment
        self.logger = logger
        self.output = output
        level = loaded.log.level
    }

    /// Reads and applies; what takes time goes on in `continueReload`.
    mutating func run(on host: BroadcastHost) {
        guard let path else {
            logger.notice(
                "nothing to reload", metadata: ["why": "the daemon was started without a configuration file"])
            return
        }
        do throws(Refusal) {
            let new = try Self.load(path, environment)
            var report: ReloadReport
            do { report = try host.reload(new) } catch { throw Refusal(sentences: [error.sentence]) }
            host.reopenAudit()
            report.needRestart.removeAll { Self.liveKeys.contains($0) }
            let newLevel = takeLevel(of: new, &report)
            // What is said of the change is said at whichever of the two levels says more.
            if let newLevel, newLevel < output.level { output.level = newLevel }
            log(report)
            if let newLevel { output.level = newLevel }
            if report.isEmpty, !host.isReloading {
                logger.notice("configuration reloaded", metadata: ["applied": "nothing, it is the same"])
            }
        } catch {
            for sentence in error.sentences {
                logger.error(
                    "configuration not reloaded",
                    metadata: ["why": "\(sentence)", "now": "the daemon goes on as it was"])
            }
        }
    }

    /// Some times a second, while the host is reloading.
    func continueReload(on host: BroadcastHost) { log(host.continueReload()) }

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
            logger.notice("configuration reloaded", metadata: ["applied": "\(report.applied.joined(separator: ", "))"])
        }
        for sentence in report.failed {
            logger.error("part of the configuration was not applied", metadata: ["why": "\(sentence)"])
        }
        if !report.needRestart.isEmpty {
            logger.warning(
                "configuration waits for a restart",
                metadata: [
                    "keys": "\(report.needRestart.joined(separator: ", "))",
                    "now": "the daemon goes on with the values that it was started with",
                ])
        }
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
