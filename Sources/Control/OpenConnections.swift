internal import Glibc
internal import LinuxSystem
internal import NIOCore

/// The connections of a server. If there is no room for a new one, a connection whose request is incomplete is closed:
/// the oldest one of the process with the most such connections.
///
/// A process with a single connection is therefore not displaced by the thousand connections of another process. TCP
/// does not identify processes, so its connections count as those of one process, and they leave `reserved` places to
/// the Unix socket. Used only on the server's event loop.
final class OpenConnections: @unchecked Sendable /* all of it belongs to the event loop */ {
    /// Places that TCP clients, who have not shown a token yet, cannot take: four of the usual sixteen.
    static func reserved(of limit: Int) -> Int { limit / 4 }

    private var open: [ObjectIdentifier: (channel: any Channel, isRemote: Bool)] = [:]
    /// Connections with an incomplete request, oldest first; at most as many as may be open.
    private var reading: [Reading] = []
    private typealias Reading = (channel: any Channel, process: pid_t, hasRole: Bool, isRemote: Bool)
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
    /// - Parameters:
    ///   - process: the process at the other end; 0 if unknown.
    ///   - isRemote: whether the connection is by TCP.
    func hasRoom(
        for channel: any Channel, of process: pid_t, hasRole: Bool = true, isRemote: Bool = false, atMost limit: Int
    ) -> Bool {
        open[ObjectIdentifier(channel)] = (channel, isRemote)
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in open[ObjectIdentifier(channel)] = nil }
        let remote = open.values.count(where: \.isRemote)
        let exceedsRemote = isRemote && remote > limit - Self.reserved(of: limit)
        guard open.count > limit || exceedsRemote else {
            reading.append((channel, process, hasRole, isRemote))
            return true
        }
        let candidates = isRemote ? reading.filter(\.isRemote) : reading
        guard !candidates.isEmpty else { return false }
        reading.append((channel, process, hasRole, isRemote))
        let slow = Self.slowest(of: candidates + [(channel, process, hasRole, isRemote)])
        reading.removeAll { $0.channel === slow }
        leaves(slow)
        slow.close(promise: nil)
        return true
    }

    /// Frees the place of a connection that is about to be closed. The close itself takes a turn of the loop.
    func leaves(_ channel: any Channel) { open[ObjectIdentifier(channel)] = nil }

    /// The oldest connection without a role or, if there is none, the oldest one of the process with the most
    /// connections. Never the newest connection, which has had no time yet.
    private static func slowest(of reading: [Reading]) -> any Channel {
        if let withoutRole = reading.dropLast().first(where: { !$0.hasRole }) { return withoutRole.channel }
        var (place, most) = (0, 0)
        for (index, one) in reading.enumerated().dropLast() {
            let count = reading.count(where: { $0.process == one.process })
            if count > most { (place, most) = (index, count) }
        }
        return reading[place].channel
    }

    /// Closes all connections.
    func closeAll() { for one in open.values { one.channel.close(promise: nil) } }

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
