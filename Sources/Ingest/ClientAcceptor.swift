internal import LinuxSystem
internal import MediaCore

/// Accepts connections; after a failure, such as a lack of descriptors, it waits. Ingest thread only.
struct ClientAcceptor {
    private let server: IngestServer
    private let log: @Sendable (String) -> Void
    private let clock: any TimeSource
    private let retry: MediaTime
    private var hasLogged = false
    private var nextAttempt: MediaTime?

    init(_ server: IngestServer, log: @escaping @Sendable (String) -> Void) {
        (self.server, self.log) = (server, log)
        (clock, retry) = (server.timing.clock, server.timing.settings.acceptRetry)
    }

    /// When to poll the listener again after a failure; nil if it can be polled at `now`.
    func retryAt(after now: MediaTime) -> MediaTime? { nextAttempt.flatMap { now < $0 ? $0 : nil } }

    mutating func retryNow() { nextAttempt = nil }

    /// The next client in the backlog; nil if there is none, or it cannot be accepted now.
    mutating func next() -> OwnedDescriptor? {
        // Every connection must be closed later, and a refused one at once.
        guard server.closer.hasRoom else {
            retryLater("close(2) blocks for \(DescriptorCloser.capacity) descriptors from clients")
            return nil
        }
        do throws(Errno) {
            guard let socket = try server.accept() else { return nil }
            hasLogged = false
            return socket
        } catch {
            retryLater("\(error)")
            return nil
        }
    }

    private mutating func retryLater(_ why: String) {
        nextAttempt = clock.now() + retry
        guard !hasLogged else { return }
        hasLogged = true
        log(
            "cannot accept a capture client: \(why); the daemon retries every \(retry); the connected client is not "
                + "affected")
    }
}
