import Configuration
import ControlProtocol
import Ingest
import LinuxSystem
import Logging
import MediaCore
import Privacy
import TestSupport

@testable import Pipeline

/// The host's parts without a host: there is no broadcast and no connection.
final class PartsRig {
    let configuration: Configuration
    let clock = ManualClock(.seconds(1000))
    let log = LogRecorder()
    let current = CurrentBroadcast()
    let ledger = BroadcastLedger()
    let phase: BroadcastPhase
    let roster: DestinationRoster
    let operating: OperatorCommands
    let privacy: PrivacyDesk
    let reloader: ConfigurationReloader
    let status: StatusReporter
    let watch: BroadcastWatch
    private let folder: TemporaryDirectory

    /// One destination, "main", with the stream key in the variable KEY, and memory for any number.
    init(
        _ change: (inout Configuration) -> Void = { _ in },
        memoryRoom: @escaping @Sendable () -> MemoryRoom? = { nil }
    ) throws {
        folder = try TemporaryDirectory("parts")
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (320, 180)
        configuration.memory.capBytes = 1 << 30
        configuration.destinations = [try Self.destination("main")]
        change(&configuration)
        self.configuration = configuration
        let recorder = log
        let logger = Logger(label: "test") { _ in recorder }
        let server = try IngestServer(
            listener: try UnixSocket.listen(path: folder.file("capture.sock"), mode: 0o600), settings: .init(),
            clock: clock)
        phase = BroadcastPhase(current, clock: clock) { logger.tell($0) }
        roster = DestinationRoster(
            configuration, environment: ["KEY": "s3cret"], current, ledger, clock: clock, logger: logger)
        operating = OperatorCommands(roster, current, phase, server: server, logger: logger)
        privacy = PrivacyDesk(
            configuration.privacyPolicy, audit: nil, stateFile: nil, clock: clock,
            effects: BroadcastEffects(current, phase, server: server, logger: logger))
        reloader = ConfigurationReloader(configuration, roster, operating, privacy, current, clock: clock)
        status = StatusReporter(
            roster, current, phase, ledger, privacy, memoryRoom: memoryRoom, clock: clock)
        watch = BroadcastWatch(current, phase, roster, server: server, logger: logger)
    }

    static func destination(_ name: String) throws -> DestinationConfiguration {
        var destination = DestinationConfiguration()
        destination.name = name
        destination.url = try DestinationURL("rtmp://127.0.0.1/\(name)")
        destination.keyEnvironment = "KEY"
        return destination
    }

    /// Adds a destination as a request does.
    func add(_ text: String) throws -> String { try roster.addInTest(text) }

    var names: [String] { roster.all.map(\.name).sorted() }
}

extension DestinationRoster {
    /// Waits until the destination's files have been checked.
    func addInTest(_ text: String) throws -> String {
        let addition = try add(Array(text.utf8))
        var outcome: Result<String, CommandRefusal>?
        try waitFor("the destination's files to be looked at") {
            outcome = addition.outcome()
            return outcome != nil
        }
        return try outcome!.get()
    }
}
