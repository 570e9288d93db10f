internal import ArgumentParser
internal import Buffering
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Packets go into the log and come out through a cursor, which copies them twice.
///
/// The rival is two plain copies of the same bytes: into a ring of the same size, and out of it.
struct LogBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Nanoseconds of processor time for one packet's way through the packet log.")

    @Option(help: "Rounds; the median counts.") var rounds = 9
    @Option(help: "Seconds of broadcast in a round, at most 30.") var seconds = 20

    private static let ringBytes = 16 << 20

    func run() throws {
        guard (2...30).contains(seconds), rounds > 0 else {
            throw ValidationError("--seconds: 2 to 30; --rounds: at least 1")
        }
        try oneThread()
        try twoThreads()
    }

    private var packets: Int { seconds * PacketSchedule.packetsPerSecond }

    private static func makeLog() -> PacketLog {
        PacketLog(limits: PacketLogLimits(maxBytes: ringBytes, maxDuration: .seconds(60), maxPackets: 8192))
    }

    // MARK: One thread

    /// A second is written, then read.
    private func oneThread() throws {
        let log = Self.makeLog()
        let cursor = log.makeCursor(policy: .keepEverything)
        let source = unsafe Self.payload()
        defer { unsafe source.deallocate() }
        var buffer = PacketBuffer(limit: 256 << 10)
        var (ours, copies) = (PacketSchedule(), PacketSchedule())
        let ring = UnsafeMutableRawPointer.allocate(byteCount: Self.ringBytes, alignment: 64)
        defer { unsafe ring.deallocate() }
        let target = UnsafeMutableRawPointer.allocate(byteCount: 256 << 10, alignment: 64)
        defer { unsafe target.deallocate() }
        var (offset, bytes, isAllThere) = (0, 0, true)

        func throughLog() {
            for _ in 0..<PacketSchedule.packetsPerSecond { unsafe Self.write(&ours, source, to: log) }
            while case .packet = cursor.next(into: &buffer, headroom: 64, until: .zero) {}
        }
        func copied() {
            var start = offset
            var sizes: [73 of Int] = .init(repeating: 0)
            for index in 0..<PacketSchedule.packetsPerSecond {
                let size = copies.next().byteCount
                sizes[index] = size
                if offset + size > Self.ringBytes { offset = 0 }
                if index == 0 { start = offset }
                unsafe (ring + offset).copyMemory(from: source.baseAddress!, byteCount: size)
                offset += size
                bytes += size
            }
            for index in 0..<PacketSchedule.packetsPerSecond {
                let size = sizes[index]
                if start + size > Self.ringBytes { start = 0 }
                unsafe target.copyMemory(from: ring + start, byteCount: size)
                start += size
            }
        }
        // Once around the ring, so that its pages are there.
        for _ in 0..<40 {
            throughLog()
            copied()
        }
        bytes = 0
        let times = try Stopwatch.measure(rounds: rounds, count: seconds, inTurn: [throughLog, copied])
        isAllThere = log.statistics.refused == 0 && cursor.drops == DropCounters()
        guard isAllThere else { throw ValidationError("packets were left out") }
        let divisor = Double(PacketSchedule.packetsPerSecond)
        let perSecond = Double(bytes) / Double(rounds * seconds + 1)
        print(
            #"{"bench": "log", "threads": 1, "# + times[0].fields(divisor: divisor, unit: "ns") + ", "
                + times[0].fields(beside: times[1], divisor: divisor, unit: "ns", name: "copy")
                + #", "megabytes_per_second": \#(Self.rounded(perSecond * 1000 / times[0].median))}"#)
    }

    // MARK: Two threads

    /// A thread writes as fast as it can, another one reads as fast as it can.
    private func twoThreads() throws {
        let log = Self.makeLog()
        let cursor = log.makeCursor(policy: .keepEverything)
        let source = unsafe Self.payload()
        defer { unsafe source.deallocate() }
        var schedule = PacketSchedule()
        // What waits for audio stays a second ahead of the reader; and the pages are there.
        var buffer = PacketBuffer(limit: 256 << 10)
        for _ in 0..<40 {
            while case .packet = cursor.next(into: &buffer, headroom: 64, until: .zero) {}
            for _ in 0..<PacketSchedule.packetsPerSecond { unsafe Self.write(&schedule, source, to: log) }
        }
        var (writer, reader, wall, bytes): ([Double], [Double], [Double], Int) = ([], [], [], 0)
        let count = packets
        for _ in 0..<rounds {
            let read = Monitor(0)
            let began = MonotonicClock().now()
            let thread = try WorkerThread(name: "reader") {
                var buffer = PacketBuffer(limit: 256 << 10)
                let start = Stopwatch.nanoseconds()
                for _ in 0..<count { _ = cursor.next(into: &buffer, headroom: 64, until: nil) }
                let time = Stopwatch.nanoseconds() - start
                read.withLock { $0 = time }
            }
            let start = Stopwatch.nanoseconds()
            for _ in 0..<count { bytes += unsafe Self.write(&schedule, source, to: log) }
            writer.append(Double(Stopwatch.nanoseconds() - start) / Double(count))
            thread.join()
            wall.append(Double((MonotonicClock().now() - began).nanoseconds) / Double(count))
            reader.append(Double(read.withLock { $0 }) / Double(count))
        }
        guard log.statistics.refused == 0, cursor.drops == DropCounters() else {
            throw ValidationError("packets were left out")
        }
        let perPacket = Double(bytes) / Double(rounds * count)
        print(
            #"{"bench": "log", "threads": 2, "# + Timing(writer).fields(divisor: 1, unit: "writer_ns")
                + #", "reader_ns": \#(Self.rounded(Timing(reader).median)), "#
                + #""megabytes_per_second": \#(Self.rounded(perPacket * 1000 / Timing(wall).median))}"#)
    }

    // MARK: Packets

    private static func payload() -> UnsafeMutableRawBufferPointer {
        let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: PacketSchedule.keyframeBytes, alignment: 64)
        for index in payload.indices { unsafe payload[index] = UInt8(truncatingIfNeeded: index &* 167) }
        return unsafe payload
    }

    /// Writes the next packet, and returns its bytes.
    @discardableResult
    private static func write(
        _ schedule: inout PacketSchedule, _ source: UnsafeMutableRawBufferPointer, to log: PacketLog
    ) -> Int {
        let (info, byteCount) = schedule.next()
        log.write(info, payload: unsafe UnsafeRawBufferPointer(start: source.baseAddress, count: byteCount).bytes)
        return byteCount
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
