import Configuration
import ControlProtocol
import Glibc
import Ingest
import IngestProtocol
import LinuxSystem
import Logging
import MediaCore
import Privacy
import TestSupport

@testable import Pipeline

/// A broadcast host without a daemon. The test plays the ingest thread, and advances the clock by hand.
final class HostRig {
    let host: BroadcastHost
    let clock: ManualClock
    let log: LogRecorder
    private let server: IngestServer
    private let folder: TemporaryDirectory
    private let destination: SilentServer

    static let key = "s3cret-pipeline"

    /// One destination that accepts the connection and never answers, so that nothing is ever sent.
    ///
    /// - Parameter environment: contains the destination's stream key, KEY.
    init(
        environment: [String: String] = ["KEY": HostRig.key], stateFile: PrivacyStateFile? = nil,
        _ change: (inout Configuration) -> Void = { _ in },
        memoryRoom: @escaping @Sendable () -> MemoryRoom? = { nil }
    ) throws {
        folder = try TemporaryDirectory("host")
        destination = try SilentServer()
        clock = ManualClock(.seconds(1000))
        log = LogRecorder()
        var configuration = Configuration()
        configuration.video.width = 320
        configuration.video.height = 180
        // Closing does not wait for the destination, which never answers.
        configuration.stop.drain = .zero
        var target = DestinationConfiguration()
        target.url = try DestinationURL("rtmp://127.0.0.1:\(destination.port)/live")
        target.keyEnvironment = "KEY"
        configuration.destinations = [target]
        change(&configuration)
        server = try IngestServer(
            listener: try UnixSocket.listen(path: folder.file("capture.sock"), mode: 0o600), settings: .init(),
            clock: clock)
        let log = log
        host = BroadcastHost(
            configuration: configuration, environment: environment, server: server,
            logger: Logger(label: "test") { _ in log }, clock: clock, stateFile: stateFile, memoryRoom: memoryRoom)
    }

    /// Adds a destination as a request does.
    func add(_ text: String) throws -> String { try host.destinations.addInTest(text) }

    /// Introduces a client.
    func start() throws(ProtocolError) {
        _ = try host.begin(StartedMessage(clientName: "test", convention: .exif), peer: nil)
    }

    /// The current broadcast.
    var broadcast: Broadcast {
        get throws {
            guard let broadcast = host.current.broadcast else { throw TestFailure("no broadcast") }
            return broadcast
        }
    }

    /// The destination's port.
    var port: UInt16 { destination.port }
}

/// Records log lines.
final class LogRecorder: LogHandler, Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private struct State {
        var lines: [Line] = []
        var onLine: (@Sendable (Line) -> Void)?
    }
    private let state = Monitor(State())

    var lines: [Line] { state.withLock { $0.lines } }
    /// Called on the thread that logs, after each line.
    var onLine: (@Sendable (Line) -> Void)? {
        get { state.withLock { $0.onLine } }
        set { state.withLock { $0.onLine = newValue } }
    }

    func log(event: LogEvent) {
        let line = Line(
            level: event.level, message: "\(event.message)",
            metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
        let hook = state.withLock { state in
            state.lines.append(line)
            return state.onLine
        }
        hook?(line)
    }

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
}
