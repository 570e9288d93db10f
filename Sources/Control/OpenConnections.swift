internal import Glibc
internal import LinuxSystem
internal import NIOCore

/// The connections of a server. If there is no room for a new one, a connection whose request is incomplete is closed:
/// of the process with the most such connections, the oldest.
///
/// A process with a single connection is therefore not displaced by the thousand connections of another process. TCP
/// does not identify processes, so its connections count as those of one process. Used only on the server's event loop.
final class OpenConnections: @unchecked Sendable /* all of it belongs to the event loop */ {
    private var open: [ObjectIdentifier: any Channel] = [:]
    /// Connections with an incomplete request, oldest first; at most as many as may be open.
    private var reading: [(channel: any Channel, process: pid_t, hasRole: Bool)] = []
    private var streams: [StreamOwner] = []

    /// The reader of a stream. Over TCP, and without role lists, all readers are operators.
    enum StreamOwner: Equatable {
        case `operator`
        case user(uid_t)

        init(_ peer: ControlPeer) {
            let user = peer.isOperator ? nil : peer.credentials?.userID
            self = user.map { .user($0) } ?? .operator
        }
    }

    /// Adds a new connection, whose request is expected. Returns false if all other connections are being answered, so
    /// that the new one must be refused.
    ///
    /// - Parameter process: the process at the other end; 0 if unknown.
    func hasRoom(for channel: any Channel, of process: pid_t, hasRole: Bool = true, atMost limit: Int) -> Bool {
        open[ObjectIdentifier(channel)] = channel
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in open[ObjectIdentifier(channel)] = nil }
        let mustGo = open.count > limit
        if mustGo, reading.isEmpty { return false }
        reading.append((channel, process, hasRole))
        if mustGo {
            let slow = reading.remove(at: slowest).channel
            leaves(slow)
            slow.close(promise: nil)
        }
        return true
    }

    /// Frees the place of a connection that is about to be closed. The close itself takes a turn of the loop.
    func leaves(_ channel: any Channel) { open[ObjectIdentifier(channel)] = nil }

    /// The oldest connection without a role or, without such a connection, of the process with the most. Never the
    /// newest one, which has had no time yet.
    private var slowest: Int {
        if let withoutRole = reading.dropLast().firstIndex(where: { !$0.hasRole }) { return withoutRole }
        var (place, most) = (0, 0)
        for (index, one) in reading.enumerated().dropLast() {
            let count = reading.count(where: { $0.process == one.process })
            if count > most { (place, most) = (index, count) }
        }
        return place
    }

    /// Closes all connections.
    func closeAll() { for channel in open.values { channel.close(promise: nil) } }

    /// Notes that a connection's request is complete.
    func complete(_ channel: any Channel) { reading.removeAll { $0.channel === channel } }

    func closed(_ channel: any Channel, stream owner: StreamOwner?) {
        complete(channel)
        if let owner, let index = streams.firstIndex(of: owner) { streams.remove(at: index) }
    }

    /// A user other than an operator can have at most half of the streams. Two streams are reserved for operators.
    func beginStream(for owner: StreamOwner, atMost limit: Int) -> Bool {
        guard streams.count < limit else { return false }
        if owner != .operator {
            guard streams.count(where: { $0 == owner }) < max(1, limit / 2),
                streams.count(where: { $0 != .operator }) < max(1, limit - 2)
            else { return false }
        }
        streams.append(owner)
        return true
    }
}
