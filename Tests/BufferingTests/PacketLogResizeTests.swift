@testable import Buffering
import Glibc
import LinuxSystem
import MediaCore
import SeededRandom
import Testing

/// A log that is made smaller and larger while it is written and read.
@Suite struct PacketLogResizeTests {
    private static func entry(_ number: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
    }

    /// Whatever sizes follow each other, what is held is what was written, and it is the newest that fits.
    @Test(arguments: 1...30 as ClosedRange<UInt64>) func whatIsHeldStaysAsItWas(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let ring = PacketLogRing(
            limits: PacketLogLimits(maxBytes: 200_000, maxDuration: .seconds(1000), maxPackets: 500))
        var written: [[UInt8]] = []
        for number in 0..<600 {
            let payload = Self.entry(number, bytes: Int.random(in: 1...9_000, using: &random))
            let time = MediaTime.milliseconds(Int64(number))
            unsafe payload.withUnsafeBytes {
                unsafe ring.append(PacketInfo(track: .audio, pts: time, dts: time, priority: .audio), payload: $0)
            }
            written.append(payload)
            guard number % 20 == 19 else { continue }
            let (held, size) = (ring.usedBytes, Int.random(in: 20_000...400_000, using: &random))
            let firstBefore = ring.first
            #expect(ring.resize(maxBytes: size, maxDelay: .zero))
            #expect(ring.usedBytes <= size)
            #expect(held > size || ring.first == firstBefore, "nothing goes that fits")
            #expect(ring.first == 0 || ring.first == firstBefore || ring.usedBytes > size - 9_000)
            for sequence in ring.first..<ring.end {
                var bytes = [UInt8](repeating: 0, count: ring[sequence].byteCount)
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe ring.copyPayload(of: sequence, to: $0.baseAddress!)
                }
                #expect(bytes == written[sequence])
            }
        }
    }

    /// A smaller log takes less memory, at once, and on the way there hardly more.
    @Test func pagesAreGivenBack() throws {
        let (large, small) = (8 << 20, 1 << 20)
        let log = PacketLog(limits: PacketLogLimits(maxBytes: large, maxDuration: .seconds(1000), maxPackets: 500))
        let payload = [UInt8](repeating: 7, count: 100_000)
        for number in 0..<90 {
            let time = MediaTime.milliseconds(Int64(number))
            log.write(
                PacketInfo(track: .video, pts: time, dts: time, priority: .reference), payload: payload.span.bytes)
        }
        let storage = try #require(RingStorage(byteCount: large))
        unsafe storage.forEachPiece(at: 0, count: large) { piece in
            unsafe _ = piece.initializeMemory(as: UInt8.self, repeating: 1)
        }
        #expect(storage.residentBytes == large)
        storage.release(at: large - 3 << 20, count: 5 << 20)
        #expect(storage.residentBytes == 3 << 20, "from the last 3 MiB on round to the second")
        #expect(log.resize(maxBytes: small, maxDelay: .zero))
        #expect(log.statistics.bytes == 1_000_000)
        #expect(log.limits.maxBytes == small)
    }

    /// A delay that the log cannot hold any more shrinks with it: the cursor jumps to a keyframe of the shorter delay,
    /// and what it passes over never goes out.
    @Test func theDelayShrinks() {
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 1 << 20, maxDuration: .seconds(20), maxPackets: 2_000))
        let cursor = log.makeCursor(policy: CursorPolicy(delay: .seconds(8)))
        func frames(_ numbers: Range<Int>) -> [Int] {
            numbers.flatMap { number in
                let time = MediaTime(sample: Int64(number), rate: 30)
                let priority: PacketPriority = number % 60 == 0 ? .keyframe : .reference
                log.write(
                    PacketInfo(track: .video, pts: time, dts: time, priority: priority),
                    payload: [UInt8](repeating: 1, count: 1000).span.bytes)
                return Self.times(cursor)
            }
        }
        let before = frames(0..<300)
        #expect(before.first == 0 && before.last == 1966, "eight seconds behind the newest")
        #expect(log.resize(maxBytes: 200_000, maxDelay: .seconds(2)))
        // Seconds 3.3 to 10 are held, of which those up to second 8 are due. The keyframe of second 6 is more than
        // 1.5 s late by that, so the next is waited for.
        let after = frames(300..<400)
        #expect(after.first == 8000 && after.last == 11_300, "two seconds behind the newest")
        #expect(before.count + after.count + cursor.drops.total == 340)
    }

    private static func times(_ cursor: PacketCursor) -> [Int] {
        var buffer = PacketBuffer(limit: 5_000)
        var times: [Int] = []
        while case .packet(let info, _) = cursor.next(into: &buffer, headroom: 0, until: .zero) {
            times.append(Int(info.dts.milliseconds))
        }
        return times
    }
}

extension RingStorage {
    /// Bytes of it that are in memory (mincore(2)).
    fileprivate var residentBytes: Int {
        var pages = [UInt8](repeating: 0, count: byteCount / 4096)
        return mincore(base, byteCount, &pages) == 0 ? pages.reduce(0) { $0 + Int($1 & 1) } * 4096 : 0
    }
}
