internal import Configuration
internal import Control
internal import ControlProtocol
internal import Endpoints
internal import Glibc
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Privacy
internal import ProductVersion
internal import Webhooks

/// The process: capture socket, control socket and signals, and the order in which they start and stop.
struct Daemon {
    private let configuration: Configuration
    /// The path of the configuration file; nil without a file.
    private let path: String?
    private let environment: [String: String]
    private let logger: Logger
    private let output: LogOutput
    private let journal: EventJournal
    private let events: EventLog
    private let remote: RemoteControl?
    private let webhooks: WebhookCenter

    /// - Throws: if a token for `control.listen` cannot be read.
    init(
        _ configuration: Configuration, path: String?, environment: [String: String], output: LogOutput,
        journal: EventJournal
    ) throws(SecretError) {
        remote = try configuration.control.remote(environment: environment).map { remote in
            RemoteControl(
                host: remote.address.host, port: remote.address.port,
                tokens: ControlTokens(
                    operator: ControlToken(remote.token.revealed),
                    metrics: remote.metricsToken.map { ControlToken($0.revealed) }))
        }
        self.configuration = configuration
        self.path = path
        self.environment = environment
        self.output = output
        self.journal = journal
        webhooks = WebhookCenter(instance: HostName.current, clock: MonotonicClock())
        let events = EventLog(journal, webhooks: webhooks)
        self.events = events
        logger = Logger(label: "upcastd") { _ in DaemonLog(StandardErrorLog(output), events) }
    }

    /// Runs until SIGTERM or SIGINT. Then it ends the broadcast, sends queued packets and returns the exit status.
    ///
    /// - Parameter passed: sockets that the service manager has created.
    func run(
        signals: borrowing SignalDescriptor, passed: consuming PassedSockets
    ) throws(StartFailure) -> ExitStatus {
        do { try webhooks.prepare(configuration.webhookSettings(environment: environment)) } catch {
            throw StartFailure("cannot create a descriptor for the webhooks: \(error)")
        }
        var stateFile = try openStateFile()
        let reloads: ReloadDesk
        do { reloads = try ReloadDesk() } catch {
            throw StartFailure("cannot create an event descriptor: \(error)")
        }
        let server: IngestServer
        let host: BroadcastHost
        let control: ControlServer
        let clock = MonotonicClock()
        var manager = ServiceManager(environment: environment, logger: logger)
        var passed = passed
        let passedPath = passed.path(of: Self.captureSocket)
        let capturePath = passedPath ?? configuration.ingest.socket
        let controlPath = passed.path(of: Self.controlSocket) ?? configuration.control.socket
        do {
            let listener: OwnedDescriptor
            if let capture = passed.take(Self.captureSocket) {
                listener = capture
            } else {
                listener = try UnixSocket.listen(
                    path: configuration.ingest.socket, mode: configuration.ingest.socketMode, backlog: 64)
            }
            server = try IngestServer(
                listener: listener,
                settings: .init(
                    startTimeout: configuration.ingest.startTimeout, idleTimeout: configuration.ingest.idleTimeout),
                clock: clock)
            // After the sockets, so that a second daemon with the same configuration reports the socket.
            try stateFile?.takeLock()
            host = BroadcastHost(
                configuration: configuration, environment: environment, server: server, logger: logger, clock: clock,
                audit: try AuditLog(path: configuration.privacy.auditFile, clock: clock), stateFile: stateFile)
            try host.privacy.startKeeping()
            var routes = ControlRoutes.standard(
                status: { [host, webhooks] in host.report(with: webhooks) },
                readiness: { [host] in
                    if host.isStopping { return .notReady("the daemon is stopping") }
                    return host.files.problem.map { .filesNotReady($0) } ?? .ready
                },
                wedged: { [host] in host.threads.wedged })
            routes.addPage()
            routes.addViews(of: host, journal: journal, webhooks: webhooks)
            routes.addCommands(to: host)
            routes.addBroadcastCommands(to: host)
            routes.addCaptureState(of: host)
            routes.addPrivacy(of: host)
            routes.addRegions(of: host)
            routes.addProtections(of: host)
            routes.addLogLevel(output, logger: logger)
            routes.addReload(reloads)
            var remote = remote
            remote?.onRefusedToken = { [logger] in
                logger.tell(.controlTokenRefused(peer: $0.peer, path: $0.path, isWrong: $0.isWrong))
            }
            control = ControlServer(
                path: configuration.control.socket, mode: configuration.control.socketMode, routes: routes,
                remote: remote, roles: try ControlRoleTable(configuration.control))
            try MediaLibraries.prepare(logger)
            // All code is loaded, and only the audit log's thread runs.
            ProcessMemory.releaseFilePages()
            host.files.begin(waiting: Self.filesPatience)
            try control.start(on: passed.take(Self.controlSocket))
            if let patience = manager.patience { host.threads.setPatience(patience) }
        } catch {
            throw StartFailure("\(error)")
        }
        do {
            try server.start(host: host) { [logger] in logger.tell(.clientNotAccepted(why: $0)) }
        } catch {
            control.stop()
            throw StartFailure("cannot start the ingest thread: \(error)")
        }
        defer { webhooks.end(until: .zero) }
        do { try webhooks.start { [logger] in logger.tell($0) } } catch {
            control.stop()
            server.stop()
            server.join()
            throw StartFailure("cannot start the thread of a webhook: \(error)")
        }
        defer {
            control.stop(isProcessEnding: true)
            if passedPath == nil { unsafe unlink(configuration.ingest.socket) }
        }
        logger.tell(
            .ready(
                captureSocket: capturePath, controlSocket: controlPath,
                controlListen: configuration.control.listen.map { "\($0)" },
                canvas: "\(configuration.video.width)x\(configuration.video.height) at "
                    + "\(configuration.video.frameRate) frames/s",
                destinations: configuration.destinations.map(\.description), version: Version.current))
        if let listen = configuration.control.listen, !listen.isLoopback {
            logger.tell(.controlNotEncrypted(address: "\(listen)"))
        }
        if let freeze = try? TestFreeze(environment: environment) {
            logger.tell(.testHookSet(encoderFrames: freeze.encoderFrames))
        }
        manager.ready(host.status.statusLine)
        let name: String
        do { name = try serve(host, control, signals, reloads, &manager) } catch {
            throw StartFailure("cannot create an event descriptor: \(error)")
        }
        let longest = host.configuration.stop.drain + host.configuration.buffer.delay
        logger.tell(.stopping(signal: name, drain: longest))
        host.noteStopping()
        let webhookTime = configuration.webhooks.isEmpty ? .zero : Self.webhookTime
        manager.stopping(host.status.statusLine, longest: longest + Self.closingTime + webhookTime)
        let end = EndDeadline(clock.now() + longest + Self.closingTime, logger: logger)
        server.stop()
        server.join()
        let drained = host.shutDown()
        end.met()
        let status = drained ? ExitStatus.success : .notDrained
        logger.tell(.stopped(sentAll: host.hasSentAll, exitStatus: Int(status.rawValue)))
        webhooks.end(until: MonotonicClock().now() + Self.webhookTime)
        return status
    }

    /// Opens the state file. Without one, the first log line says so, because users of the curtain must know.
    private func openStateFile() throws(StartFailure) -> PrivacyStateFile? {
        guard let path = configuration.privacy.stateFile else {
            logger.tell(.noStateFile)
            return nil
        }
        do throws(StateFileFailure) { return try PrivacyStateFile(path: path) } catch {
            throw StartFailure(error.sentence)
        }
    }

    /// Names of the sockets that a service manager can pass (FileDescriptorName= in a socket unit).
    private static let captureSocket = "capture"
    private static let controlSocket = "control"
    static let passedSockets = [captureSocket, controlSocket]

    /// The period at which the main thread checks memory, the other threads and the service manager.
    private static let lookPeriod = MediaTime.milliseconds(500)

    /// The longest wait for the destinations' files before the daemon is ready. A hanging disk does not keep it.
    private static let filesPatience = MediaTime.seconds(1)

    /// The time after the drain to unpublish, close and exit.
    private static let closingTime = MediaTime.seconds(5)

    /// The time for the last events to reach the webhooks.
    private static let webhookTime = MediaTime.seconds(2)

    /// Runs the main thread until a signal ends it. Returns the name of the signal.
    private func serve(
        _ host: BroadcastHost, _ control: ControlServer, _ signals: borrowing SignalDescriptor,
        _ reloads: ReloadDesk, _ manager: inout ServiceManager
    ) throws(Errno) -> String {
        var reload = try ConfigurationReload(
            path: path, environment: environment, loaded: configuration, logger: logger, output: output,
            webhooks: webhooks, tokens: remote?.tokens)
        defer { reload.end() }
        var isReloading = false
        var isSecond = false
        var nextLook = MonotonicClock().now()
        // Made once: the loop turns twice a second for as long as the daemon runs.
        var waitedFor = [signals.raw, reload.wakeUp.raw, reloads.wakeUp.raw].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while true {
            _ = unsafe poll(&waitedFor, nfds_t(waitedFor.count), (nextLook - MonotonicClock().now()).pollTimeout)
            let signal = signals.next()
            let now = MonotonicClock().now()
            if now >= nextLook {
                nextLook = now + Self.lookPeriod
                host.watchMemory()
                manager.feedWatchdog(wedged: host.threads.look(and: control.forEachWorkMark))
                if isReloading { reload.continueReload(on: host) }
                if isSecond {
                    host.tick()
                    output.tellOmitted()
                    events.tellOmitted()
                    if !isReloading, manager.wantsStatus { manager.note(host.status.statusLine) }
                }
                isSecond.toggle()
            }
            switch signal {
            case SIGTERM: return "SIGTERM"
            case SIGINT: return "SIGINT"
            default: break
            }
            // `take` first, so that a signal does not leave a request unanswered.
            if reloads.take() || signal == SIGHUP {
                manager.reloading(since: MonotonicClock().now())
                isReloading = true
                reload.begin(on: host, at: now)
            }
            reload.apply(on: host, at: now)
            if isReloading, !reload.isReading, !host.reloader.isReloading {
                isReloading = false
                // Before the answer, so that the service manager knows before the requester continues.
                manager.ready(host.status.statusLine)
                reloads.end(reload.outcome)
            }
        }
    }
}

/// Why the daemon could not start.
struct StartFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
