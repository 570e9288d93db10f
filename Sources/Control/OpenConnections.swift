internal import Glibc
internal import LinuxSystem
internal import NIOCore

/// The connections of a server, so that none keeps another out: where there is no room, one goes whose request is
/// awaited, of the process that has most of these, the one that has taken longest.
///
/// A process with a single connection is thus not pushed out by another's thousand. Over TCP, where nobody can tell,
/// all are one. Used on the server's one event loop only.
final class OpenConnections: @unchecked Sendable /* all of it belongs to the event loop */ {
    private var open: [ObjectIdentifier: any Channel] = [:]
    /// Those whose request has not come whole, the oldest first; at most as many as may be open.
    private var reading: [(channel: any Channel, process: pid_t, hasRole: Bool)] = []
    private var streams: [StreamOwner] = []

    /// Who reads a stream. Over TCP, and where no roles are told apart, all are operators.
    enum StreamOwner: Equatable {
        case `operator`
        case user(uid_t)

        init(_ peer: ControlPeer) {
            let user = peer.isOperator ? nil : peer.credentials?.userID
            self = user.map { .user($0) } ?? .operator
        }
    }

    /// Notes a new connection, whose request is awaited. False where all others are being answered: it is refused.
    ///
    /// - Parameter process: at the other end; 0 where nobody can tell.
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

    /// It is about to be closed, which takes a turn of the loop: from now on its place is free.
    func leaves(_ channel: any Channel) { open[ObjectIdentifier(channel)] = nil }

    /// The oldest of those without a role, or else of the process that has most; never the newest, which has had no
    /// time.
    private var slowest: Int {
        if let withoutRole = reading.dropLast().firstIndex(where: { !$0.hasRole }) { return withoutRole }
        var (place, most) = (0, 0)
        for (index, one) in reading.enumerated().dropLast() {
            let count = reading.count(where: { $0.process == one.process })
            if count > most { (place, most) = (index, count) }
        }
        return place
    }

    /// Nobody is answered any more.
    func closeAll() { for channel in open.values { channel.close(promise: nil) } }

    /// Its request has come.
    func complete(_ channel: any Channel) { reading.removeAll { $0.channel === channel } }

    func closed(_ channel: any Channel, stream owner: StreamOwner?) {
        complete(channel)
        if let owner, let index = streams.firstIndex(of: owner) { streams.remove(at: index) }
    }

    /// No user has more than half of them but operators, for whom two are left.
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
