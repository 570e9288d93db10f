@testable import Buffering
import LinuxSystem
import MediaCore
import SeededRandom
import TestSupport
import Testing

@Suite struct PacketLogPropertyTests {
    /// A reader of random speed, long stalls and new connections among it, on logs of random size: what comes out
    /// always decodes, the log never holds more than its limits, and every packet is delivered or counted.
    @Test(arguments: 0..<24) func whateverTheReaderDoesTheStreamDecodes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limits = PacketLogLimits(
            maxBytes: Int.random(in: 1_000...60_000, using: &random),
            maxDuration: .milliseconds(Int64.random(in: 100...6_000, using: &random)),
            maxPackets: Int.random(in: 4...500, using: &random))
        let soft = Int64.random(in: 50...1_500, using: &random)
        let policy = CursorPolicy(
            softLimit: .milliseconds(soft), hardLimit: .milliseconds(Int64.random(in: soft...3_000, using: &random)),
            audioLimit: .milliseconds(Int64.random(in: 3_000...5_000, using: &random)),
            delay: .milliseconds([0, 0, Int64.random(in: 1...2_000, using: &random)].randomElement(using: &random)!))
        let log = PacketLog(limits: limits)
        let request = Monitor(false)
        log.onKeyframeWanted = { request.withLock { $0 = true } }
        let clock = ManualClock()
        let cursor = log.makeCursor(policy: policy, clock: clock)
        var stream = TestStream(seed: seed ^ 0xabcdef)
        stream.keyframeInterval = Int.random(in: 1...90, using: &random)
        stream.disposableShare = Double.random(in: 0...0.7, using: &random)
        stream.largestFiller = Int.random(in: 0...1_500, using: &random)
        var decoder = TestDecoder()
        var buffer = PacketBuffer(limit: Int.random(in: 200...2_000, using: &random))
        var credit = 0
        var stalled = 0

        func readAvailable(_ most: Int) {
            for _ in 0..<most {
                let (result, payload) = read(cursor, &buffer)
                guard case .packet(let info, _) = result else { return }
                decoder.take(info, payload)
            }
        }
        var isWithinLimits = true
        for _ in 0..<600 {
            stream.keyframeRequested = request.withLock { wanted in
                defer { wanted = false }
                return wanted
            }
            stream.writeFrame(to: log)
            let statistics = log.statistics
            isWithinLimits =
                isWithinLimits && statistics.bytes <= limits.maxBytes && statistics.packets <= limits.maxPackets
                && statistics.duration <= limits.maxDuration
            if Int.random(in: 0..<150, using: &random) == 0 { cursor.restart(counting: .disconnected) }
            if stalled > 0 { stalled -= 1; continue }
            if Int.random(in: 0..<100, using: &random) == 0 { stalled = Int.random(in: 1...120, using: &random) }
            credit = min(8, credit + Int.random(in: 0...5, using: &random))
            readAvailable(credit)
        }
        log.end(at: clock.now())
        clock.advance(by: policy.delay)
        readAvailable(.max)

        #expect(isWithinLimits)
        #expect(decoder.complaint == nil)
        let drops = cursor.drops
        let sinceStart = decoder.video.first.map { Int(stream.videoNumber - $0 + 1) } ?? 0
        let accounted = decoder.video.count + drops.video.total
        // Keyframes that were too large to start with count as well.
        #expect(accounted >= sinceStart && accounted <= sinceStart + drops.video.tooLarge, "\(drops)")
        if let firstAudio = decoder.audio.first {
            #expect(decoder.audio.count + drops.audio.total >= Int(stream.audioNumber - firstAudio + 1), "\(drops)")
        }
    }

    @Test(arguments: 0..<20) func aReaderThatKeepsUpLosesNothing(seed: UInt64) {
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 20_000, maxDuration: .seconds(2), maxPackets: 64))
        let cursor = log.makeCursor()
        var stream = TestStream(seed: seed)
        var random = SplitMix64(seed: seed &+ 99)
        var decoder = TestDecoder()
        var buffer = PacketBuffer(limit: 1_000)
        for _ in 0..<500 {
            for _ in 0..<Int.random(in: 1...6, using: &random) { stream.writeFrame(to: log) }
            while case (.packet(let info, _), let payload) = read(cursor, &buffer) { decoder.take(info, payload) }
        }
        #expect(decoder.complaint == nil)
        #expect(decoder.video == Array(1...stream.videoNumber))
        #expect(decoder.audio == Array(1...stream.audioNumber))
        #expect(cursor.drops == DropCounters())
    }

    /// The ring against a plain array that forgets in the same way.
    @Test(arguments: 0..<20) func ringHoldsTheNewestPackets(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limits = PacketLogLimits(
            maxBytes: Int.random(in: 50...400, using: &random), maxDuration: .milliseconds(900), maxPackets: 12)
        let ring = PacketLogRing(limits: limits)
        var model: [(sequence: Int, info: PacketInfo, payload: [UInt8])] = []
        var time = Int64(0)
        for sequence in 0..<400 {
            time += Int64.random(in: 1...200, using: &random)
            let priorities: [PacketPriority] = [.audio, .audio, .reference, .reference, .keyframe]
            let priority = priorities.randomElement(using: &random)!
            let info = PacketInfo(
                track: priority == .audio ? .audio : .video, pts: .milliseconds(time), dts: .milliseconds(time),
                priority: priority)
            let count = Int.random(in: 0...60, using: &random)
            let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            payload.withUnsafeBytes { ring.append(info, payload: $0) }
            if payload.count > limits.maxBytes { continue }
            while let oldest = model.first,
                model.count >= 12 || model.reduce(payload.count, { $0 + $1.payload.count }) > limits.maxBytes
                    || info.dts - oldest.info.dts > limits.maxDuration
            { model.removeFirst() }
            model.append((sequence, info, payload))

            #expect(ring.first == model[0].sequence && ring.end == sequence + 1)
            #expect(ring.newestKeyframe == model.last { $0.info.isKeyframe }?.sequence)
            let probe = model.randomElement(using: &random)!
            #expect(ring[probe.sequence].info == probe.info)
            var copy = [UInt8](repeating: 0, count: ring[probe.sequence].byteCount + 1)
            copy.withUnsafeMutableBytes { ring.copyPayload(of: probe.sequence, to: $0.baseAddress!) }
            #expect(copy.dropLast() == probe.payload[...])
        }
    }
}
