import ControlProtocol
import LinuxSystem
import Logging
import MediaCore
import Testing

@testable import Pipeline
@testable import Publishing

/// The messages about a destination whose server accepts connections and closes them at once.
@Suite struct DestinationReportTests {
    private static let error = {
        var error = PublishError(.connectionLost, "the server closed the connection")
        error.consequence = "trying again in 2.0 s"
        return error
    }()

    private struct Handler: LogHandler {
        let lines: Monitor<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata?["connections"] ?? "")") }
        }
    }

    private func snapshot() -> DestinationSnapshot {
        var snapshot = DestinationSnapshot(
            name: "main", kind: .rtmp, location: "rtmp://a/live", since: .seconds(90))
        snapshot.lastError = Self.error
        snapshot.lastErrorAt = .seconds(88)
        snapshot.shortConnections = 4
        return snapshot
    }

    /// The time of the next attempt is reported until the attempt.
    @Test func theStatusHasTheAgeOfTheErrorAndTheShortConnections() {
        var snapshot = snapshot()
        snapshot.state = .publishing
        let status = snapshot.status(at: .seconds(100))
        #expect(status.lastError == "the server closed the connection")
        #expect(status.lastErrorAgeMilliseconds == 12_000)
        #expect(status.shortConnections == 4)
        snapshot.state = .reconnecting
        let pending = snapshot.status(at: .seconds(100)).lastError
        #expect(pending == "the server closed the connection; trying again in 2.0 s")
    }

    /// A flapping destination goes live repeatedly for a moment, which is no news.
    @Test func goingLiveIsNoNewsWhereItFlaps() {
        let lines = Monitor<[String]>([])
        let logger = Logger(label: "test") { _ in Handler(lines: lines) }
        for isFlapping in [false, true] {
            DestinationEvent.state(.publishing).log(to: logger, name: "main", isFlapping: isFlapping)
        }
        DestinationEvent.flapping(Self.error, connections: 6).log(to: logger, name: "main", isFlapping: true)
        #expect(
            lines.withLock { $0 } == [
                "notice destination live ", "debug destination live ",
                "warning destination flapping 6",
            ])
    }
}
