import Glibc
import LinuxSystem
import MediaCore

/// One client's connection, and the one to the server that was made for it.
final class ProxiedConnection {
    private let client: OwnedDescriptor
    private let server: OwnedDescriptor
    private var up: Lane
    private var down: Lane
    private var isServerConnected = false
    /// Bytes were swallowed: neither end can go on.
    private var hasLostBytes = false
    /// An end has gone while the link was swallowing; the other hears of it afterwards.
    private var hasLostEnd = false
    private(set) var isOver = false

    /// - Parameter server: a socket that is connecting, or nil where the client is not to reach it.
    init(client: consuming OwnedDescriptor, server: consuming OwnedDescriptor?) throws(Errno) {
        self.client = client
        switch consume server {
        case .some(let server): self.server = server
        case nil:
            self.server = try LoopbackSocket.make()
            hasLostBytes = true
        }
        up = Lane(direction: .up, from: self.client.raw, to: self.server.raw)
        down = Lane(direction: .down, from: self.server.raw, to: self.client.raw)
    }

    func end(abortive: Bool) {
        isOver = true
        guard abortive else { return }
        for descriptor in [client.raw, server.raw] { LoopbackSocket.makeAbortive(descriptor) }
    }

    private func breakOff(_ link: Link) {
        link.figures.broken += 1
        end(abortive: true)
    }

    /// What to poll client and server for; without any event not even errors are looked at.
    func interest(_ link: Link, at now: MediaTime) -> [pollfd] {
        var (fromClient, fromServer) = (CInt(0), CInt(0))
        switch link.mode {
        case .stalled: break
        case .swallowing:
            if !hasLostEnd { (fromClient, fromServer) = (POLLIN, isServerConnected ? POLLIN : 0) }
        case .passing where hasLostEnd: link.wake(at: now)
        case .passing where hasLostBytes: fromClient = POLLIN
        case .passing where !isServerConnected: fromServer = POLLOUT
        case .passing:
            fromClient = (up.wantsToRead(link, at: now) ? POLLIN : 0) | (down.wantsToWrite(link, at: now) ? POLLOUT : 0)
            fromServer = (down.wantsToRead(link, at: now) ? POLLIN : 0) | (up.wantsToWrite(link, at: now) ? POLLOUT : 0)
        }
        return [(client.raw, fromClient), (server.raw, fromServer)].map { descriptor, events in
            pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)
        }
    }

    /// Moves bytes; `ready` is what `interest` asked for, with poll's answer.
    func serve(_ link: Link, ready: ArraySlice<pollfd>, at now: MediaTime, scratch: inout [UInt8]) {
        let (clientEvents, serverEvents) = (CInt(ready.first!.revents), CInt(ready.last!.revents))
        switch link.mode {
        case .stalled: return
        case .swallowing:
            for (events, descriptor) in [(clientEvents, client.raw), (serverEvents, server.raw)] where events != 0 {
                swallow(descriptor, link, &scratch)
            }
            return
        case .passing: break
        }
        if hasLostEnd || hasLostBytes && clientEvents != 0 { return breakOff(link) }
        guard !hasLostBytes else { return }
        guard isServerConnected else {
            guard serverEvents != 0 else { return }
            guard LoopbackSocket.connectError(of: server.raw) == 0 else { return breakOff(link) }
            isServerConnected = true
            return
        }
        do {
            if clientEvents & ~POLLOUT != 0 { try up.read(link, at: now, scratch: &scratch) }
            if serverEvents & ~POLLOUT != 0 { try down.read(link, at: now, scratch: &scratch) }
            try up.write(at: now)
            try down.write(at: now)
        } catch {
            return breakOff(link)
        }
        if up.isDone, down.isDone { end(abortive: false) }
    }

    private func swallow(_ descriptor: CInt, _ link: Link, _ scratch: inout [UInt8]) {
        hasLostBytes = true
        while true {
            let count = recv(descriptor, &scratch, scratch.count, 0)
            if count > 0 {
                link.figures.bytesSwallowed += count
            } else {
                if count == 0 || errno != EAGAIN && errno != EINTR { hasLostEnd = true }
                return
            }
        }
    }
}

/// One direction of one connection.
private struct Lane {
    let direction: LinkCommand.Direction
    let from: CInt
    let to: CInt
    private var line = ByteLine()
    private var receiveBufferBytes = LoopbackSocket.receiveBufferBytes
    /// The sender has closed.
    private var isEnded = false
    /// So has our end towards the receiver.
    private(set) var isDone = false

    init(direction: LinkCommand.Direction, from: CInt, to: CInt) {
        self.direction = direction
        self.from = from
        self.to = to
    }

    func wantsToRead(_ link: Link, at now: MediaTime) -> Bool {
        !isEnded && line.byteCount < link.room(direction) && link.allowance(direction, at: now) > 0
    }

    func wantsToWrite(_ link: Link, at now: MediaTime) -> Bool {
        guard let due = line.nextDue else { return false }
        if due > now { link.wake(at: due) }
        return due <= now
    }

    mutating func read(_ link: Link, at now: MediaTime, scratch: inout [UInt8]) throws(Errno) {
        let allowance = link.allowance(direction, at: now)
        let most = min(scratch.count, allowance, link.room(direction) - line.byteCount)
        guard !isEnded, most > 0 else { return }
        let ahead = link.receiveBufferBytes(direction)
        if ahead != receiveBufferBytes {
            receiveBufferBytes = ahead
            LoopbackSocket.setReceiveBuffer(from, bytes: ahead)
        }
        let count = recv(from, &scratch, most, 0)
        guard count >= 0 else {
            if errno == EINTR { return }
            guard errno == EAGAIN else { throw Errno.current }
            return link[direction].bucket.take(0, isAll: true, at: now)
        }
        guard count > 0 else { return isEnded = true }
        var bytes = scratch[..<count]
        link.carry(&bytes, isAll: count < allowance, direction, at: now)
        line.append(Array(bytes)[...], due: now + link.delay)
    }

    mutating func write(at now: MediaTime) throws(Errno) {
        try line.write(to: to, at: now)
        guard isEnded, !isDone, line.byteCount == 0 else { return }
        shutdown(to, CInt(SHUT_WR))
        isDone = true
    }
}
