import Glibc
import LinuxSystem
import MediaCore
import SeededRandom
import TestSupport
import Testing

@testable import Buffering

@Suite struct PCMQueueTests {
    private static let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)

    /// Blocks do not end the wait of a consumer that wants nothing.
    private let none = AudioDurations()

    private func block(_ index: Int) -> PCMBlock {
        PCMBlock(source: .app, format: Self.format, frames: index, time: .zero, arrival: .zero)
    }

    private func put(_ queue: PCMQueue, _ index: Int, bytes: Int) -> Bool {
        guard let room = queue.reserve(bytes) else { return false }
        room.copyBytes(from: repeatElement(UInt8(truncatingIfNeeded: index), count: bytes))
        queue.commit(block(index))
        return true
    }

    /// Against a model: what comes out is a suffix-preserving subsequence in order, and its bytes are intact.
    @Test func randomTrafficKeepsOrderAndBytes() {
        var random = SplitMix64(seed: 7)
        let queue = PCMQueue(capacity: 4096)
        var last = 0
        for index in 1...5_000 {
            #expect(put(queue, index, bytes: 1 + Int(random.next() % 900)))
            if random.next() % 3 == 0, case .block(let block, let bytes) = queue.take(until: .zero) {
                #expect(block.frames > last)
                last = block.frames
                #expect(bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: block.frames) })
                queue.release()
            }
        }
        #expect(queue.statistics.dropped > 0)
    }

    @Test func whatTheConsumerReadsIsNeverOverwritten() {
        let queue = PCMQueue(capacity: 1024)
        #expect(put(queue, 1, bytes: 1000))
        guard case .block(_, let bytes) = queue.take(until: nil) else {
            Issue.record("no block")
            return
        }
        #expect(!put(queue, 2, bytes: 1000))
        #expect(queue.statistics.refused == 1)
        #expect(bytes.allSatisfy { $0 == 1 })
        queue.release()
        #expect(put(queue, 3, bytes: 1000))
    }

    @Test func tooLargeIsRefused() {
        #expect(PCMQueue(capacity: 64).reserve(65) == nil)
    }

    @Test func manySmallBlocksAreBoundedByCount() {
        let queue = PCMQueue(capacity: 1 << 20)
        for index in 1...1000 { #expect(put(queue, index, bytes: 2)) }
        #expect(queue.statistics.waiting == PCMQueue.maxBlocks)
        guard case .block(let block, _) = queue.take(until: nil) else { return }
        #expect(block.frames == 1000 - PCMQueue.maxBlocks + 1)
    }

    /// A consumer that gathers has what waits when its deadline has passed, in order, and at once where the queue fills
    /// or is closed.
    @Test func gatheringWaitsForTheDeadline() throws {
        func numbers(_ queue: PCMQueue, until deadline: MediaTime?) -> [Int] {
            var numbers: [Int] = []
            var next: PCMQueue.Outcome? = queue.take(until: deadline, wanting: none)
            while case .block(let block, _)? = next {
                numbers.append(block.frames)
                queue.release()
                next = queue.takeNow()
            }
            return numbers
        }
        let queue = PCMQueue(capacity: 1 << 16)
        for index in 1...3 { #expect(put(queue, index, bytes: 64)) }
        #expect(numbers(queue, until: .zero) == [1, 2, 3])
        guard case .timeout = queue.take(until: .zero, wanting: none) else {
            return #expect(Bool(false), "nothing waits")
        }
        if queue.takeNow() != nil { Issue.record("nothing waits") }
        // Without a deadline only what is below has an end.
        for index in 1...32 { #expect(put(queue, index, bytes: 64)) }
        #expect(numbers(queue, until: nil) == Array(1...32))
        #expect(put(queue, 1, bytes: 1 << 13) && put(queue, 2, bytes: 1 << 13))
        #expect(numbers(queue, until: nil) == [1, 2])
        #expect(put(queue, 9, bytes: 64))
        queue.close()
        #expect(numbers(queue, until: nil) == [9])
        guard case .closed = queue.take(until: nil, wanting: none) else { return #expect(Bool(false), "it is closed") }
    }

    /// A consumer sleeps until the queue has the amounts that it wants. No deadline passes here.
    @Test func wantedAmountsEndTheWait() throws {
        let clock = ManualClock()
        let queue = PCMQueue(capacity: 1 << 16, clock: clock)
        let taken = Monitor<[AudioSource]>([])
        let thread = try WorkerThread(name: "test-pcm") {
            let wanted = AudioDurations(app: .milliseconds(21), microphone: .milliseconds(10))
            var next: PCMQueue.Outcome? = queue.take(until: .seconds(1), wanting: wanted)
            while case .block(let block, _)? = next {
                taken.withLock { $0.append(block.source) }
                queue.release()
                next = queue.takeNow()
            }
        }
        defer {
            clock.set(.seconds(1))
            thread.join()
        }
        try waitFor("the consumer to sleep") { clock.waiters == 1 }
        let sources: [AudioSource] = [.app, .app, .microphone, .app]
        for (index, source) in sources.enumerated() {
            if index == 3 {
                // It looks again, and goes on sleeping. No block has woken it until now.
                clock.set(.milliseconds(1))
                try waitFor("the consumer to sleep again") { clock.waits == 2 }
                #expect(queue.statistics.waiting == 3)
            }
            try #require(queue.reserve(64) != nil)
            queue.commit(
                PCMBlock(
                    source: source,
                    format: AudioFormat(sampleRate: source == .app ? 44_100 : 16_000, channels: 1, encoding: .int16),
                    frames: source == .app ? 441 : 160, time: .zero, arrival: .zero))
        }
        try waitFor("the consumer to wake") { taken.withLock { $0.count } == sources.count }
        #expect(taken.withLock(\.self) == sources)
    }

    @Test func theWaitEndsWhenEachSourceHasEnough() {
        typealias Milliseconds = (app: Int64, microphone: Int64)
        func suffices(_ queued: Milliseconds, for wanted: Milliseconds) -> Bool {
            PCMQueue.suffices(
                .init(app: .milliseconds(queued.app), microphone: .milliseconds(queued.microphone)),
                for: .init(app: .milliseconds(wanted.app), microphone: .milliseconds(wanted.microphone)))
        }
        #expect(suffices((21, 0), for: (21, 0)))
        #expect(suffices((40, 40), for: (21, 0)))
        #expect(!suffices((20, 40), for: (21, 0)))
        #expect(suffices((0, 10), for: (0, 5)))
        #expect(!suffices((30, 4), for: (21, 5)))
        #expect(suffices((21, 5), for: (21, 5)))
        // Three blocks of 128 frames at 48 kHz are 384 frames, although each is rounded down.
        let blocks = MediaTime(sample: 128, rate: 48_000) * 3
        for (frames, isEnough) in [(384, true), (385, false)] {
            let wanted = AudioDurations(app: MediaTime(sample: Int64(frames), rate: 48_000))
            #expect(PCMQueue.suffices(.init(app: blocks), for: wanted) == isEnough)
        }
        // A consumer that wants nothing waits for the deadline.
        #expect(!suffices((100, 100), for: (0, 0)))
    }

    /// Nobody is left asleep: a producer fills the queue while the consumer gathers without a deadline.
    @Test func aQueueThatFillsWakesWhoGathers() throws {
        let queue = PCMQueue(capacity: 1 << 16)
        let thread = try WorkerThread(name: "test-pcm") { [self] in
            for index in 1...2000 { while !put(queue, index, bytes: 64) { sched_yield() } }
            queue.close()
        }
        var last = 0
        loop: while true {
            switch queue.take(until: nil, wanting: none) {
            case .block(let block, _):
                last = block.frames
                queue.release()
            case .closed: break loop
            case .timeout: Issue.record("no deadline was given")
            }
        }
        thread.join()
        #expect(last == 2000)
    }

    @Test func threadsHandOver() throws {
        let queue = PCMQueue(capacity: 1 << 16)
        let thread = try WorkerThread(name: "test-pcm") { [self] in
            // A refusal only means that the consumer still reads where the block would go.
            for index in 1...2000 { while !put(queue, index, bytes: 64) { sched_yield() } }
            queue.close()
        }
        var last = 0
        loop: while true {
            switch queue.take(until: nil) {
            case .block(let block, let bytes):
                #expect(block.frames > last)
                last = block.frames
                #expect(bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: block.frames) })
                queue.release()
            case .closed: break loop
            case .timeout: Issue.record("no deadline was given")
            }
        }
        thread.join()
        #expect(last == 2000)
    }
}
