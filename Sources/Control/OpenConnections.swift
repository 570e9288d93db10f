internal import NIOCore

/// The connections of a server, so that none keeps another out: where there is no room, the one goes that has taken
/// longest to send its request.
///
/// Used on the server's one event loop only.
final class OpenConnections: @unchecked Sendable /* all of it belongs to the event loop */ {
    private var open: Set<ObjectIdentifier> = []
    /// Those whose request has not come whole, the oldest first.
    private var reading: [any Channel] = []
    private var streams = 0

    /// Notes a new connection, whose request is awaited. False where all others are being answered: it is refused.
    func hasRoom(for channel: any Channel, atMost limit: Int) -> Bool {
        open.insert(ObjectIdentifier(channel))
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in open.remove(ObjectIdentifier(channel)) }
        if open.count > limit {
            guard !reading.isEmpty else { return false }
            reading.removeFirst().close(promise: nil)
        }
        reading.append(channel)
        return true
    }

    /// Its request has come.
    func complete(_ channel: any Channel) { reading.removeAll { $0 === channel } }

    func closed(_ channel: any Channel, wasStream: Bool) {
        complete(channel)
        if wasStream { streams -= 1 }
    }

    func beginStream(atMost limit: Int) -> Bool {
        guard streams < limit else { return false }
        streams += 1
        return true
    }
}
