internal import Configuration
internal import Control
internal import Glibc
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline

/// The process: capture socket, control socket, signals, and the order in which they come and go.
struct Daemon {
    private let configuration: Configuration
    private let environment: [String: String]
    private let logger: Logger
    private let level: LogLevelSwitch
    private let journal: EventJournal

    init(
        _ configuration: Configuration, environment: [String: String], logger: Logger, level: LogLevelSwitch,
        journal: EventJournal
    ) {
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
        self.level = level
        self.journal = journal
    }

    /// Runs until SIGTERM or SIGINT; then ends the broadcast, sends what is encoded, and returns what that came to.
    func run(signals: borrowing SignalDescriptor) throws(StartFailure) -> ExitStatus {
        let server: IngestServer
        let host: BroadcastHost
        let control: ControlServer
        let clock = MonotonicClock()
        do {
            let listener = try UnixSocket.listen(
                path: configuration.ingest.socket, mode: configuration.ingest.socketMode, backlog: 64)
            server = try IngestServer(
                listener: listener,
                settings: .init(
                    startTimeout: configuration.ingest.startTimeout, idleTimeout: configuration.ingest.idleTimeout),
                clock: clock)
            host = BroadcastHost(
                configuration: configuration, environment: environment, server: server, logger: logger, clock: clock)
            var routes = ControlRoutes.standard(
                status: { [host] in host.status },
                readiness: { [host] in host.isStopping ? .notReady("the daemon is stopping") : .ready })
            routes.addPage()
            routes.addViews(of: host, journal: journal)
            routes.addCommands(to: host)
            routes.addBroadcastCommands(to: host)
            routes.addLogLevel(level, logger: logger)
            control = ControlServer(
                path: configuration.control.socket, mode: configuration.control.socketMode, routes: routes,
                remote: try remoteControl())
            try MediaLibraries.prepare(logger)
            // The last moment with one thread, and everything is loaded.
            ProcessMemory.releaseFilePages()
            try control.start()
        } catch {
            throw StartFailure("\(error)")
        }
        do {
            try server.start(consumer: host) { [logger] in logger.warning("\($0)") }
        } catch {
            control.stop()
            throw StartFailure("the ingest thread cannot be started: \(error)")
        }
        defer {
            control.stop()
            unsafe unlink(configuration.ingest.socket)
        }
        logger.notice(
            "ready",
            metadata: [
                "capture_socket": "\(configuration.ingest.socket)", "control_socket": "\(configuration.control.socket)",
                "destinations": "\(configuration.destinations.map(\.description).joined(separator: ", "))",
            ])
        let name = waitForSignal(signals, everyHalfSecond: { isSecond in
            host.watchMemory()
            if isSecond { host.tick() }
        })
        let longest = configuration.stop.drain + configuration.buffer.delay
        logger.notice("stopping", metadata: ["signal": "\(name)", "drain_ms": "\(longest.milliseconds)"])
        host.noteStopping()
        server.stop()
        server.join()
        let drained = host.shutDown()
        logger.notice("stopped", metadata: ["sent_all": "\(drained)"])
        return drained ? .success : .notDrained
    }

    private func remoteControl() throws(SecretError) -> RemoteControl? {
        guard let (address, token) = try configuration.control.remote() else { return nil }
        return RemoteControl(host: address.host, port: address.port, token: ControlToken(token.revealed))
    }

    private func waitForSignal(
        _ signals: borrowing SignalDescriptor, everyHalfSecond: (_ isSecond: Bool) -> Void
    ) -> String {
        var isSecond = false
        while true {
            var descriptor = pollfd(fd: signals.raw, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&descriptor, 1, 500) == 0 {
                everyHalfSecond(isSecond)
                isSecond.toggle()
            }
            switch signals.next() {
            case SIGTERM: return "SIGTERM"
            case SIGINT: return "SIGINT"
            default: continue
            }
        }
    }
}

/// Why the daemon could not start; something that it needs is not to be had.
struct StartFailure: Error {
    let description: String
    init(_ description: String) { self.description = description }
}
