import MediaCore

/// The state of the link that all connections share; the proxy's thread only.
final class Link {
    enum Mode { case passing, stalled, swallowing }

    struct Direction {
        var bucket = TokenBucket()
        /// Bytes still to be inverted.
        var toCorrupt = 0
    }

    var mode = Mode.passing
    var delay = MediaTime.zero
    var figures = LinkFigures()
    /// Bytes that may still go up before a step of the schedule is due.
    var upUntilStep = Int.max
    private var up = Direction()
    private var down = Direction()
    /// The earliest moment at which there will be something to do without any socket saying so.
    private(set) var wakeAt: MediaTime?

    subscript(direction: LinkCommand.Direction) -> Direction {
        get { direction == .up ? up : down }
        set { if direction == .up { up = newValue } else { down = newValue } }
    }

    func beginRound() { wakeAt = nil }
    func wake(at time: MediaTime) { wakeAt = min(time, wakeAt ?? time) }

    /// How many bytes may be read now.
    func allowance(_ direction: LinkCommand.Direction, at now: MediaTime) -> Int {
        let allowed = self[direction].bucket.available(at: now)
        if allowed == 0 { wake(at: self[direction].bucket.nextAvailable(after: now)) }
        return direction == .up ? min(allowed, upUntilStep) : allowed
    }

    /// How many bytes of one connection may wait here: with a delay those of 2 s at 8 Mbit/s; little where the rate is
    /// bounded, so that a link that is full shows at the sender soon.
    func room(_ direction: LinkCommand.Direction) -> Int {
        if delay > .zero { return 2 << 20 }
        return self[direction].bucket.bitsPerSecond == nil ? 64 << 10 : 8 << 10
    }

    /// What the kernel is to take ahead of us: 50 ms of a bounded rate, so that bytes move in small portions, as on a
    /// real link.
    func receiveBufferBytes(_ direction: LinkCommand.Direction) -> Int {
        let most = LoopbackSocket.receiveBufferBytes
        guard let rate = self[direction].bucket.bitsPerSecond else { return most }
        return min(max(rate / 8 / 20, 4 << 10), most)
    }

    /// Lets bytes through again. The time of a fault is not a delay of the proxy: it is not made up for.
    func resume(at now: MediaTime) {
        mode = .passing
        up.bucket.restart(at: now)
        down.bucket.restart(at: now)
    }

    /// Nothing waits for the link any more.
    func rest(at now: MediaTime) {
        up.bucket.take(0, isAll: true, at: now)
        down.bucket.take(0, isAll: true, at: now)
    }

    /// Counts and, where that was asked for, corrupts bytes that were read.
    ///
    /// - Parameter isAll: false if only the rate keeps more bytes from following.
    func carry(_ bytes: inout ArraySlice<UInt8>, isAll: Bool, _ direction: LinkCommand.Direction, at now: MediaTime) {
        self[direction].bucket.take(bytes.count, isAll: isAll, at: now)
        let corrupted = min(bytes.count, self[direction].toCorrupt)
        for index in bytes.indices.prefix(corrupted) { bytes[index] = ~bytes[index] }
        self[direction].toCorrupt -= corrupted
        switch direction {
        case .up:
            figures.bytesUp += bytes.count
            upUntilStep -= bytes.count
        case .down: figures.bytesDown += bytes.count
        }
    }
}

/// What has gone through so far.
package struct LinkFigures: Equatable, Sendable {
    package var accepted = 0
    /// Connections now.
    package var open = 0
    /// Connections that the client or the server broke, that a command reset, or whose server was not there.
    package var broken = 0
    /// Bytes from clients and from servers, without those that were swallowed.
    package var bytesUp = 0
    package var bytesDown = 0
    package var bytesSwallowed = 0
}
