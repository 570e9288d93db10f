import AudioMixing
import Buffering
import Configuration
import Encoding
import IngestProtocol
import LinuxSystem
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import Pipeline

@Suite struct AudioWorkerTests {
    /// Stands still. Each read counts as a step, and the script acts at some steps.
    private final class ScriptedClock: TimeSource {
        let steps = Atomic(0)
        let script: @Sendable (Int) -> Void
        init(_ script: @escaping @Sendable (Int) -> Void) { self.script = script }

        func now() -> MediaTime {
            script(steps.wrappingAdd(1, ordering: .relaxed).newValue)
            return .seconds(12)
        }

        func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool { false }
    }

    private final class Recording: PacketSink {
        let audio = Mutex<[MediaTime]>([])
        func write(_ info: PacketInfo, payload: RawSpan) {
            if info.track == .audio { audio.withLock { $0.append(info.pts) } }
        }
        var count: Int { audio.withLock { $0.count } }
    }

    /// Two seconds of sound are due before the first picture. No sound goes out until then; afterwards all of it does.
    @Test func soundWaitsForTheFirstPicture() throws {
        let recording = Recording()
        let meter = PacketMeter(into: recording)
        let queue = PCMQueue(capacity: 1 << 16)
        let seen = Mutex((before: -1, after: -1))
        let clock = ScriptedClock { step in
            switch step {
            case 50:
                seen.withLock { $0.before = recording.count }
                let picture = PacketInfo(track: .video, pts: .zero, dts: .zero, priority: .keyframe)
                meter.write(picture, payload: [UInt8(0)].span.bytes)
            case 100:
                seen.withLock { $0.after = recording.count }
                queue.close()
            default: break
            }
        }
        let broadcast = BroadcastClock(clock)
        broadcast.publish(offset: .seconds(10))
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let room = try #require(queue.reserve(9600))
        room.initializeMemory(as: UInt8.self, repeating: 0)
        queue.commit(PCMBlock(source: .app, format: format, frames: 4800, time: .zero, arrival: .zero))
        let worker = AudioWorker(
            queue: queue, mixer: try AudioMixer(),
            encoder: try AudioEncoder(AudioEncoderSettings(sampleRate: 48_000, channels: 2, bitrate: 128_000)),
            meter: meter, clock: broadcast, counters: BroadcastCounters(), onFailure: { Issue.record("\($0)") })
        worker.run()
        let counts = seen.withLock { $0 }
        #expect(counts.before == 0)
        // Two seconds minus the mixer's longest wait, which a block this late causes.
        #expect(counts.after > 50)
        #expect(recording.audio.withLock { $0.first } == .zero)
    }

    /// Blocks that have all their samples are encoded before their latency has passed.
    @Test func completeBlocksAreNotWaitedFor() throws {
        let recording = Recording()
        let meter = PacketMeter(into: recording)
        meter.write(PacketInfo(track: .video, pts: .zero, dts: .zero, priority: .keyframe), payload: [0].span.bytes)
        let clock = ManualClock(.seconds(10))
        let queue = PCMQueue(capacity: 1 << 16, clock: clock)
        let broadcast = BroadcastClock(clock)
        broadcast.publish(offset: .seconds(10))
        let worker = AudioWorker(
            queue: queue, mixer: try AudioMixer(),
            encoder: try AudioEncoder(AudioEncoderSettings(sampleRate: 48_000, channels: 2, bitrate: 128_000)),
            meter: meter, clock: broadcast, counters: BroadcastCounters(), onFailure: { Issue.record("\($0)") })
        let thread = try WorkerThread(name: "test-audio") { worker.run() }
        defer {
            queue.close()
            thread.join()
        }
        func send(_ piece: Int64) throws {
            let room = try #require(queue.reserve(1920))
            room.initializeMemory(as: UInt8.self, repeating: 0)
            queue.commit(
                PCMBlock(
                    source: .app, format: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16), frames: 960,
                    time: .milliseconds(piece * 20), arrival: clock.now()))
        }
        clock.advance(by: .milliseconds(20))
        try send(0)
        try waitFor("the first piece to be taken") { queue.statistics.waiting == 0 }
        try waitFor("the audio thread to sleep") { clock.waiters == 1 }
        clock.advance(by: .milliseconds(60))
        for piece in Int64(1)...3 { try send(piece) }
        // 80 ms of sound are three blocks, of which the encoder keeps two. The latency of the first one ends at 86 ms.
        try waitFor("a packet", evidence: { "\(worker.mixerCounters.blocks) blocks" }) { recording.count == 1 }
        #expect(clock.now() == .milliseconds(10_080))
    }

    @Test func whatTheClientDeclaresIsWaitedFor() {
        func expected(_ tracks: UInt32) -> Set<AudioSource> {
            Configuration().mixerSettings(expecting: .init(rawValue: tracks)).expectedSources
        }
        #expect(expected(0) == [.app, .microphone])
        #expect(expected(1) == [])
        #expect(expected(3) == [.app])
        #expect(expected(5) == [.microphone])
        #expect(expected(7) == [.app, .microphone])
    }
}
