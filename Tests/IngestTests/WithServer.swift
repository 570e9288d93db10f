import Glibc
import Ingest
import LinuxSystem
import MediaCore
import TestSupport

/// Runs `body` with an ingest server in front of `consumer`, and a function that connects a client to it.
func withServer(
    _ consumer: RecordingConsumer, startTimeout: MediaTime = .seconds(10),
    messageTimeout: MediaTime = .seconds(10), idleTimeout: MediaTime = .zero,
    acceptRetry: MediaTime = .milliseconds(20), clock: any TimeSource = MonotonicClock(),
    closer: DescriptorCloser = DescriptorCloser(),
    accept: @escaping IngestServer.Accept = { listener throws(Errno) in try UnixSocket.accept(listener) },
    log: @escaping @Sendable (String) -> Void = { _ in },
    _ body: (RecordingConsumer, () throws -> TestClient) throws -> Void
) throws {
    let folder = try TemporaryDirectory("ingest")
    let path = folder.file("socket")
    let server = try IngestServer(
        listener: try UnixSocket.listen(path: path, mode: 0o600),
        settings: .init(
            startTimeout: startTimeout, messageTimeout: messageTimeout, idleTimeout: idleTimeout,
            lingerTimeout: .milliseconds(200), acceptRetry: acceptRetry),
        clock: clock, closer: closer, accept: accept)
    consumer.server = server
    try server.start(host: consumer, log: log)
    defer {
        server.stop()
        server.join()
    }
    try body(consumer) { TestClient(try UnixSocket.connect(path: path)) }
}
