package import MediaCore

/// When the samples of a recorded stream are heard, on CLOCK_MONOTONIC. Pure; one for each stream.
///
/// PulseAudio does not timestamp samples. Each report of the stream's position gives the time of its first byte, with
/// some error; the median of several is right to some milliseconds. Some servers hand over sound in pieces without
/// saying how long ago: PipeWire every 21 ms, PulseAudio's module-remap-source every 40 to 120 ms. Such reports are
/// right just after a piece has come, and late otherwise: the second earliest counts, as a single one may be wrong. The
/// times that are sent move towards the result so slowly that nobody hears it.
package struct SoundClock: Equatable, Sendable {
    /// The server's report at one moment, in bytes since the stream began.
    package struct Reading: Equatable, Sendable {
        /// When the server answered.
        package var at: MediaTime
        /// The bytes that the server has recorded, and how many of them this process has read.
        package var written: Int64
        package var read: Int64
        /// The bytes that have come to this process, of those that it has not read.
        package var arrived: Int64
        /// The age of the last byte written, without what the server holds back; and the time from recording a byte to
        /// hearing it.
        package var captureDelay: MediaTime
        package var playDelay: MediaTime
        /// The age of the last byte that has left the server, with what it holds back; zero if the server does not say.
        package var leftDelay: MediaTime
        /// The bytes that this process has taken, by its own count.
        package var position: Int64

        package init(
            at: MediaTime, written: Int64, read: Int64, arrived: Int64, captureDelay: MediaTime, leftDelay: MediaTime,
            playDelay: MediaTime, position: Int64
        ) {
            (self.at, self.position) = (at, position)
            (self.written, self.read, self.arrived) = (written, read, arrived)
            (self.captureDelay, self.leftDelay, self.playDelay) = (captureDelay, leftDelay, playDelay)
        }
    }

    /// With fewer readings, there is no time.
    package static let neededReadings = 5
    static let keptReadings = 9
    /// How far one block's time moves towards what the readings say.
    package static let slew = MediaTime.milliseconds(1)
    /// A larger difference is not drift: the stream has stood still. The daemon does not treat a smaller one as a step.
    static let step = MediaTime.milliseconds(60)

    /// For a program that does not read, the server keeps two seconds. It loses what comes then, and does not say so.
    static let attention = MediaTime.milliseconds(1500)

    /// In seconds: more sound never waits to be read.
    private static let greatestWait: Int64 = 60

    private let bytesPerSecond: Int64
    private let comesInPieces: Bool
    private var lastLook: MediaTime?
    /// When byte 0 is heard, by each reading.
    private var origins: [MediaTime] = []
    private var estimate = MediaTime.zero
    private var origin: MediaTime?

    /// - Parameters:
    ///   - bytesPerSecond: of the stream's format.
    ///   - comesInPieces: the server may hand over sound in pieces, and not say how long ago.
    package init(bytesPerSecond: Int, comesInPieces: Bool = false) {
        (self.bytesPerSecond, self.comesInPieces) = (Int64(bytesPerSecond), comesInPieces)
        origins.reserveCapacity(Self.keptReadings + 1)
    }

    /// Whether there are enough readings for `time(at:)`.
    package var isSettled: Bool { origins.count >= Self.neededReadings }

    /// Takes a reading. An impossible one, with more bytes than the server keeps, is ignored.
    package mutating func note(_ reading: Reading) {
        let (waiting, overflows) = reading.written.subtractingReportingOverflow(reading.read)
        guard !overflows, waiting.magnitude <= UInt64(Self.greatestWait * bytesPerSecond) else { return }
        let recorded = duration(waiting + reading.position)
        // PulseAudio holds back the end of what a monitor has recorded, as long as it may still change: up to all that
        // the sink buffers. Only `leftDelay` contains it, and also the bytes that are written and wait at the server.
        let age = max(reading.captureDelay, reading.leftDelay - duration(waiting - reading.arrived))
        let value = reading.at - age + reading.playDelay - recorded
        origins.append(value)
        if origins.count > Self.keptReadings { origins.removeFirst() }
        estimate = origins.sorted()[comesInPieces ? min(1, origins.count - 1) : origins.count / 2]
    }

    /// Notes that the program looks for samples. If it stood still before, the times begin anew.
    package mutating func look(at now: MediaTime) {
        if let lastLook, now - lastLook > Self.attention { restart() }
        lastLook = now
    }

    /// Forgets all: the stream has stood still, and its times begin anew.
    package mutating func restart() {
        origins.removeAll(keepingCapacity: true)
        origin = nil
    }

    /// When a block that begins at a byte is heard; nil before enough is known. Call it once for each block, in order.
    package mutating func time(at position: Int64) -> MediaTime? {
        guard isSettled else { return nil }
        let current = origin ?? estimate
        let difference = estimate - current
        // All readings agree that the time has changed.
        let isStep = difference.magnitude > Self.step && origins.allSatisfy { ($0 - current).magnitude > Self.step }
        let next = isStep ? estimate : current + max(.zero - Self.slew, min(Self.slew, difference))
        origin = next
        return next + duration(position)
    }

    private func duration(_ bytes: Int64) -> MediaTime {
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
        return MediaTime(nanoseconds: whole * 1_000_000_000 + rest * 1_000_000_000 / bytesPerSecond)
    }
}
