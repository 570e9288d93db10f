import Glibc
import LinuxSystem
import MediaCore

/// What the proxy's thread works with: the listener, the connections, and the link between them.
final class ProxyCore {
    private let listener: ProxyListener
    private let target: UInt16
    private let link = Link()
    private var connections: [ProxiedConnection] = []
    /// Steps to come; their times are the clock's, their bytes those of `figures`.
    private var steps: [(at: LinkSchedule.Moment, command: LinkCommand)] = []
    private var scratch = [UInt8](repeating: 0, count: 64 * 1024)
    private let onCommand: @Sendable (LinkCommand) -> Void

    init(listener: ProxyListener, target: UInt16, onCommand: @escaping @Sendable (LinkCommand) -> Void) {
        self.listener = listener
        self.target = target
        self.onCommand = onCommand
    }

    var figures: LinkFigures {
        var figures = link.figures
        figures.open = connections.count
        return figures
    }

    // MARK: Commands

    func begin(_ schedule: LinkSchedule, at now: MediaTime) {
        steps += schedule.steps.map { step in
            switch step.at {
            case .time(let time): (.time(now + time), step.command)
            case .bytesUp(let bytes): (.bytesUp(link.figures.bytesUp + bytes), step.command)
            }
        }
    }

    /// Applies the steps that are due, in their order.
    func runDueSteps(at now: MediaTime) throws(Errno) {
        let all = steps
        steps = []
        link.upUntilStep = .max
        for step in all {
            let isDue: Bool
            switch step.at {
            case .time(let time): isDue = time <= now
            case .bytesUp(let bytes):
                let missing = bytes - link.figures.bytesUp
                isDue = missing <= 0
                if !isDue { link.upUntilStep = min(link.upUntilStep, missing) }
            }
            if isDue { try apply(step.command, at: now) } else { steps.append(step) }
        }
    }

    func apply(_ command: LinkCommand, at now: MediaTime) throws(Errno) {
        switch command {
        case .rate(let bits):
            link[.up].bucket.setRate(bits, at: now)
            link[.down].bucket.setRate(bits, at: now)
        case .delay(let time): link.delay = time
        case .stall: link.mode = .stalled
        case .blackhole: link.mode = .swallowing
        case .resume: link.resume(at: now)
        case .reset, .close:
            link.figures.broken += connections.count
            for connection in connections { connection.end(abortive: command == .reset) }
            connections = []
            link.rest(at: now)
        case .corrupt(let direction, let bytes): link[direction].toCorrupt += bytes
        case .refuse: listener.close()
        case .unreachable: try listener.deafen()
        case .listen: try listener.open()
        case .clear:
            (link.delay, link.mode) = (.zero, .passing)
            link[.up].bucket.setRate(nil, at: now)
            link[.down].bucket.setRate(nil, at: now)
            try listener.open()
        }
        onCommand(command)
    }

    // MARK: Bytes

    /// Waits until there is something to do, and does it.
    func serve(wakeUp: EventDescriptor, at now: MediaTime) throws(Errno) {
        link.beginRound()
        for case (.time(let time), _) in steps { link.wake(at: time) }
        // While the link is stalled, clients wait with the kernel.
        var waiting = [
            pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: link.mode == .stalled ? -1 : listener.raw, events: Int16(POLLIN), revents: 0),
        ]
        for connection in connections { waiting += connection.interest(link, at: now) }
        guard poll(&waiting, nfds_t(waiting.count), timeout(at: now)) >= 0 || errno == EINTR else {
            throw Errno.current
        }
        let now = MonotonicClock().now()
        if waiting[0].revents != 0 { wakeUp.clear() }
        for (index, connection) in connections.enumerated() {
            connection.serve(link, ready: waiting[(2 + 2 * index)..<(4 + 2 * index)], at: now, scratch: &scratch)
        }
        let before = connections.count
        connections.removeAll(where: \.isOver)
        if connections.count < before { link.rest(at: now) }
        if waiting[1].revents != 0 { try acceptAll() }
    }

    private func timeout(at now: MediaTime) -> CInt {
        guard let wakeAt = link.wakeAt else { return -1 }
        return (wakeAt - now).pollTimeout
    }

    private func acceptAll() throws(Errno) {
        while let client = try listener.accept() {
            link.figures.accepted += 1
            let server = link.mode == .swallowing ? nil : try LoopbackSocket.connect(to: target)
            connections.append(try ProxiedConnection(client: client, server: server))
        }
    }
}
