internal import Buffering
internal import Glibc
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// Writes a destination's packets to one connection or file after another. Destination's thread only.
final class PacketPump {
    enum End {
        /// The log has ended, and all of it was written.
        case drained
        /// The stop's deadline passed, or the destination leaves a broadcast that continues.
        case cutShort
        /// The other side wants another connection. Its first keyframe is in the buffer.
        case replaced
    }

    /// The longest wait for a packet before the sink is serviced, which bounds the answer to a ping. Also the period of
    /// link measurements.
    private static let servicePeriod = MediaTime.milliseconds(100)
    /// The service period while packets from before the curtain are on their way.
    private static let awaitingPeriod = MediaTime.milliseconds(10)

    private let destination: Destination
    private let control: PublishControl
    private let record: ConnectionRecord
    private var buffer: PacketBuffer
    /// Whether packets have flowed. Then later refusals may be temporary.
    private(set) var hasWorked = false
    /// The keyframe that was read before the connection was replaced. Its payload is in the buffer.
    private var carried: PacketInfo?
    private var nextMeasurement = MediaTime.zero
    /// Whether it was reported that packets are late.
    private var isCongestionTold = false

    private var clock: any TimeSource { destination.clock }

    init(_ destination: Destination, control: PublishControl, record: ConnectionRecord) {
        (self.destination, self.control, self.record) = (destination, control, record)
        let facts = destination.facts
        buffer = PacketBuffer(
            limit: destination.settings.maximumPacketBytes + facts.headroom + facts.tailroom, tailroom: facts.tailroom)
    }

    /// Prepares for a connection that is ready: after a lost one, it begins at a keyframe that was not sent before.
    func begin() {
        isCongestionTold = false
        if carried == nil, hasWorked { destination.cursor.restart(counting: .disconnected) }
    }

    /// Forgets the packet that a lost connection was to get.
    func abandon() { carried = nil }

    /// Writes packets until the connection is to end.
    func run(_ sink: any PublishingSink) throws(PublishError) -> End {
        if let info = carried {
            carried = nil
            try write(info, to: sink)
        }
        var isStopping = false
        // Time lost within a sink's writes does not count here: the sink notes it.
        var standstill = Standstill(now: clock.now(), longestTurn: nil)
        while true {
            // Each turn must end within the longest waits of the sink.
            destination.work?.begin(allowing: destination.longestWaits.turn)
            let now = clock.now()
            let (isCancelled, isLeaving, stopDeadline) = destination.state.withLock {
                ($0.isCancelled, $0.isLeaving, $0.stopDeadline)
            }
            if isCancelled { throw PublishError(.cancelled, "publishing was cancelled") }
            if isLeaving { return .cutShort }
            if let stopDeadline, now >= stopDeadline { return .cutShort }
            if stopDeadline != nil, !isStopping {
                isStopping = true
                destination.enter(.stopping)
            }
            if destination.gate.cutIfLost() { throw PublishError.cutByCurtain }
            let period = destination.gate.isAwaiting ? Self.awaitingPeriod : Self.servicePeriod
            let wait = min(now + period, stopDeadline ?? now + period)
            var next = CursorResult.timeout
            if try sink.waitForRoom(until: wait) {
                next = destination.cursor.next(into: &buffer, headroom: destination.facts.headroom, until: wait)
            }
            let lost = standstill.wake(began: now, now: clock.now(), limit: wait - now)
            if lost > .zero { sink.forgive(lost) }
            switch next {
            case .packet(let info, _):
                if sink.wantsReplacement, info.isKeyframe {
                    carried = info
                    return .replaced
                }
                try write(info, to: sink)
            case .timeout, .woken: break
            case .ended:
                if !isStopping { destination.enter(.stopping) }
                return .drained
            }
            try sink.service()
            try measure(sink)
        }
    }

    private func write(_ info: PacketInfo, to sink: any PublishingSink) throws(PublishError) {
        let byteCount = buffer.byteCount
        let begin = clock.now()
        guard destination.gate.begin(info) else {
            return destination.state.withLock { $0.refused[info.track][.takenBack] += 1 }
        }
        defer { destination.gate.end() }
        try sink.write(info, &buffer)
        hasWorked = true
        destination.noteSent(info, byteCount: byteCount, at: begin)
    }

    /// Records what has reached the other side.
    private func measure(_ sink: any PublishingSink) throws(PublishError) {
        let now = clock.now()
        guard now >= nextMeasurement else { return }
        nextMeasurement = now + Self.servicePeriod
        record.noteAge()
        record.note(sink.progress)
        guard let measurement = try sink.measure(backlog: destination.cursor.backlog.duration) else { return }
        let link = destination.note(measurement, at: now)
        guard link.isCongestionNews(isTold: isCongestionTold) else { return }
        isCongestionTold.toggle()
        destination.notice(
            isCongestionTold ? "packets are \(link.lateness) late" : "packets are on time again")
    }

    /// Watches bytes from before the curtain until they have arrived. The packet loop does not run while the connection
    /// ends, and the other side can delay that end.
    func awaitWhatWasTakenBack(until deadline: MediaTime) throws(PublishError) {
        while destination.gate.isAwaiting, clock.now() < deadline {
            if destination.gate.cutIfLost() { throw PublishError.cutByCurtain }
            let next = min(deadline, clock.now() + Self.awaitingPeriod)
            guard case .timeout = control.wait(for: POLLIN, onAnyOf: [], until: next) else { return }
        }
    }
}
