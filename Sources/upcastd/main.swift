internal import Configuration
internal import Control
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import Pipeline

/// Prints a sentence that ends the program.
func fail(_ status: ExitStatus, _ sentence: String) -> Never {
    StandardErrorLog.write(sentence.split(separator: "\n").map { "upcastd: \($0)\n" }.joined())
    exit(status.rawValue)
}

let noDestination = "no destination is configured: set destinations in the file, or UPCAST_DESTINATIONS_0_URL"

// Before any thread exists: the heap's shape, and which thread sees signals.
ProcessMemory.limitOverhead()
signal(SIGPIPE, SIG_IGN)
// A recording that reaches the process's limit for files is an error of one destination's.
signal(SIGXFSZ, SIG_IGN)

let environment = ProcessEnvironment.current
do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()), environment: environment)
    switch arguments.action {
    case .printHelp:
        print(Arguments.help)
        exit(ExitStatus.success.rawValue)
    case .printVersion:
        print("upcastd \(Version.current)")
        exit(ExitStatus.success.rawValue)
    case .checkConfiguration, .printPlan, .run: break
    }

    let (configuration, places) = try Configuration.loadWithPlaces(
        path: arguments.configurationPath, environment: environment)
    let plan = configuration.memoryPlan
    switch arguments.action {
    case .printPlan:
        print(plan)
        exit(plan.fits ? ExitStatus.success.rawValue : ExitStatus.configuration.rawValue)
    case .checkConfiguration:
        let problems =
            configuration.problemsOnThisMachine(environment: environment, places: places)
            + configuration.encoderProblems(places: places)
        guard problems.isEmpty else { fail(.configuration, problems.map(\.description).joined(separator: "\n")) }
        guard plan.fits else { fail(.configuration, "\(plan)") }
        guard !configuration.destinations.isEmpty else { fail(.configuration, noDestination) }
        print("configuration is right; upcastd --plan shows its memory plan")
        exit(ExitStatus.success.rawValue)
    default: break
    }
    guard plan.fits else { fail(.configuration, "\(plan)") }
    guard !configuration.destinations.isEmpty else { fail(.configuration, noDestination) }
    let closed = configuration.socketFolderProblems
    guard closed.isEmpty else { fail(.unavailable, closed.map(\.description).joined(separator: "\n")) }

    let signals = try SignalDescriptor([SIGTERM, SIGINT])
    let level = LogLevelSwitch(Logger.Level(rawValue: configuration.log.level.rawValue) ?? .info)
    let journal = EventJournal()
    let logger = Logger(label: "upcastd") { _ in
        MultiplexLogHandler([
            StandardErrorLog(level: level, format: configuration.log.format), EventLog(journal),
        ])
    }
    let status = try Daemon(
        configuration, environment: environment, logger: logger, level: level, journal: journal
    ).run(signals: signals)
    exit(status.rawValue)
} catch let error as Arguments.Invalid {
    fail(.usage, error.description)
} catch let error as ConfigurationError {
    fail(.configuration, error.description)
} catch let error as StartFailure {
    fail(.unavailable, error.description)
} catch {
    fail(.unavailable, "\(error)")
}
