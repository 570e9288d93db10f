internal import Configuration
internal import Control
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import ProductVersion

/// Prints an error and ends the program.
func fail(_ status: ExitStatus, _ sentence: String) -> Never {
    let priority = isJournal ? LogLines.priority(.error) : ""
    StandardErrorPipe.write(sentence.split(separator: "\n").map { "\(priority)upcastd: \($0)\n" }.joined())
    exit(status.rawValue)
}

/// Prints what was asked for, and ends the program.
func answer(_ text: String, _ status: ExitStatus = .success) -> Never {
    do { try OutputBytes.write(Array((text + "\n").utf8), to: STDOUT_FILENO) } catch {
        // A reader that has left needs no message.
        if error.code != EPIPE { fail(.unavailable, "cannot write to standard output: \(error)") }
    }
    exit(status.rawValue)
}

let noDestination = "no destination is configured; set destinations in the file, or UPCAST_DESTINATIONS_0_URL"

// Heap settings and signal masks must be set before any thread exists.
ProcessMemory.limitOverhead()
StandardStreams.occupy()
signal(SIGPIPE, SIG_IGN)
// A recording that reaches the file size limit of the process is an error of one destination.
signal(SIGXFSZ, SIG_IGN)

let environment = ProcessEnvironment.current
let isJournal = JournalStream.isStandardError(environment: environment)
do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()), environment: environment)
    switch arguments.action {
    case .printHelp: answer(Arguments.help)
    case .printVersion: answer("upcastd \(Version.current)")
    case .checkConfiguration, .printPlan, .run: break
    }

    if arguments.action == .checkConfiguration {
        let draft = try ConfigurationDraft(path: arguments.configurationPath, environment: environment)
        draft.configuration.createOwnFolder(environment: environment)
        let mistakes = draft.mistakes(environment: environment)
        guard mistakes.isEmpty else { fail(.configuration, mistakes.joined(separator: "\n")) }
        answer("configuration is valid; upcastd --plan shows its memory plan")
    }
    let (configuration, places) = try Configuration.loadWithPlaces(
        path: arguments.configurationPath, environment: environment)
    let plan = configuration.memoryPlan
    if arguments.action == .printPlan { answer("\(plan)", plan.fits ? .success : .configuration) }
    // Before any stream key is read.
    if !configuration.privacy.dumpable { ProcessMemory.forbidDumps() }
    guard plan.fits else { fail(.configuration, "\(plan)") }
    guard !configuration.destinations.isEmpty else { fail(.configuration, noDestination) }
    let unusable = configuration.roleProblems(places: places) + configuration.curtainProblems(places: places)
    guard unusable.isEmpty else { fail(.configuration, unusable.map(\.description).joined(separator: "\n")) }
    _ = try TestFreeze(environment: environment)
    configuration.createOwnFolder(environment: environment)
    let passed = try PassedSockets(environment: environment, known: Daemon.passedSockets)
    let made = passed.names.map { $0 == "capture" ? "ingest" : $0 }
    let closed = configuration.socketFolderProblems(except: made)
    guard closed.isEmpty else { fail(.unavailable, closed.map(\.description).joined(separator: "\n")) }

    let signals = try SignalDescriptor([SIGTERM, SIGINT, SIGHUP])
    var lines = LogLines(format: configuration.log.format, isJournal: isJournal)
    var file: StandardErrorFile?
    let put: @Sendable (String) -> Void
    if StandardErrorFile.isNeeded(for: STDERR_FILENO) {
        let opened = try StandardErrorFile(lines) { StandardErrorPipe.write($0) }
        file = opened
        put = { opened.put($0) }
    } else {
        lines.longest = StandardErrorPipe.longestLine
        let pipe = StandardErrorPipe(lines)
        put = { pipe.put($0) }
    }
    // Without a socket the lines go to standard error, which is the journal as well.
    let journal = isJournal && configuration.log.format == .auto ? try? JournalSocket() : nil
    let output = LogOutput(
        level: Logger.Level(rawValue: configuration.log.level.rawValue) ?? .info, lines: lines, journal: journal,
        put: put)
    // Also flush when an error ends the program.
    defer { file?.end(within: .seconds(1)) }
    let daemon = try Daemon(
        configuration, path: arguments.configurationPath, environment: environment, output: output,
        // Event numbers start at the time in seconds times a million.
        journal: EventJournal(after: UInt64(max(0, time(nil))) * 1_000_000))
    let status = try daemon.run(signals: signals, passed: passed)
    file?.end(within: .seconds(1))
    exit(status.rawValue)
} catch let error as Arguments.Invalid {
    fail(.usage, error.description)
} catch let error as ConfigurationError {
    fail(.configuration, error.description)
} catch let error as SecretError {
    fail(.configuration, "\(ControlConfiguration.key(of: error)): \(error)")
} catch let error as TestFreeze.Invalid {
    fail(.configuration, error.description)
} catch let error as StartFailure {
    fail(.unavailable, error.description)
} catch {
    fail(.unavailable, "\(error)")
}
