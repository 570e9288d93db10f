import Configuration
import Ingest
import IngestProtocol
import LinuxSystem
import Logging
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// A failure passes several layers. Each one logged the same sentence, three to five times in all, so that operators
/// took one failure for many.
@Suite(.endsWithin(60)) struct FailureLogTests {
    private struct Handler: LogHandler {
        let lines: Monitor<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            lines.signal { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }

    /// Starts a broadcast to a file at `path`, runs `body`, and ends it as the ingest server does after `fail`. Returns
    /// the log.
    private func log(publishingTo path: String, failure: String, _ body: (BroadcastHost) -> Void) throws -> [String] {
        let lines = Monitor<[String]>([])
        let folder = try TemporaryDirectory("failure")
        let socket = folder.file("socket")
        let server = try IngestServer(
            listener: try UnixSocket.listen(path: socket, mode: 0o600), settings: .init(), clock: MonotonicClock())
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (64, 64)
        var destination = DestinationConfiguration()
        destination.url = try DestinationURL("file:\(path)")
        configuration.destinations = [destination]
        let host = BroadcastHost(
            configuration: configuration, environment: [:], server: server,
            logger: Logger(label: "test") { _ in Handler(lines: lines) }, clock: MonotonicClock())
        _ = try host.begin(StartedMessage(clientName: "t", convention: .exif), peer: nil)
        body(host)
        let failed: Bool? = lines.wait(until: MonotonicClock().now() + .seconds(20)) { lines in
            lines.contains { $0.contains("broadcast failed") } ? true : nil
        }
        #expect(failed == true)
        host.ended(.failed(failure))
        _ = host.shutDown()
        return lines.withLock { $0 }
    }

    @Test func ofADestinationIsLoggedOnce() throws {
        let cause = "No such file or directory"
        let lines = try log(publishingTo: "/nowhere/out.flv", failure: "no destination is left; \(cause)") { _ in }
        let naming = lines.filter { $0.contains(cause) }
        #expect(naming.count == 1 && naming[0].hasPrefix("error"), "\(lines)")
        // Bug: the consequence came first.
        let failure = try #require(lines.firstIndex { $0.contains(cause) })
        let consequence = try #require(lines.firstIndex { $0.contains("broadcast failed") })
        #expect(failure < consequence, "\(lines)")
    }

    @Test func ofAnEncoderIsLoggedOnce() throws {
        let folder = try TemporaryDirectory("failure")
        let sentence = "encoding failed: the encoder caught fire"
        let lines = try log(publishingTo: folder.file("show.flv"), failure: sentence) { host in
            host.watch.fail(sentence)
            // The audio thread reports it too, which is no news.
            host.watch.fail("encoding failed: the audio encoder, too")
        }
        let naming = lines.filter { $0.contains("encoding failed") }
        #expect(naming.count == 1 && naming[0].hasPrefix("error"), "\(lines)")
    }
}
