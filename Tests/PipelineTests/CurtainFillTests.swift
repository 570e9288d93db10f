import AudioMixing
import Buffering
import Configuration
import Encoding
import FrameGeometry
import IngestProtocol
import LinuxSystem
import MediaCore
import Painting
import Privacy
import Synchronization
import TestSupport
import Testing

@testable import Pipeline

/// The gap of a take-back is filled, whatever its length and whenever its figure comes. A watchdog sees the progress.
@Suite struct CurtainFillTests {
    private static let canvas = CanvasFormat(width: 64, height: 36, frameRate: FrameRate(30))
    private static let holder = PrivacyHolder(.operator)

    /// Calls a closure for each packet, on the encoder's thread.
    private final class Watched: PacketSink {
        let onPacket = Monitor<(@Sendable (PacketInfo) -> Void)?>(nil)
        func write(_ info: PacketInfo, payload: RawSpan) { onPacket.withLock { $0 }?(info) }
    }

    /// The pieces of work, each counted once.
    private struct Pieces {
        var all: Set<UInt64> = []
        var packets = 0
    }

    /// A minute of delay is 598 pictures, from 0.1 s after its start to 0.2 s before its end, and the one at its end.
    /// Each is a piece of work.
    @Test func aMinuteOfPicturesIsManyPiecesOfWork() throws {
        let rig = try VideoRig(delay: .seconds(60))
        let pieces = Monitor(Pieces())
        rig.onPacket { [rig] info in
            guard info.epoch == 1 else { return }
            pieces.signal { pieces in
                pieces.packets += 1
                if let piece = rig.worker.work.current { pieces.all.insert(piece.number) }
            }
        }
        rig.raise()
        let filled = pieces.wait(until: Patience.deadline(60)) { $0.packets >= 599 ? $0.packets : nil }
        #expect(filled != nil, "\(pieces.withLock { $0.packets }) pictures")
        rig.end()
        // The picture for the current time belongs to the last piece of the filling.
        #expect(pieces.withLock { $0.all.count } >= 598)
    }

    /// Another raise takes back the filling, so the rest of it is not encoded.
    @Test func aNewerRaiseEndsAFilling() throws {
        let rig = try VideoRig(delay: .seconds(60))
        let packets = Monitor([CurtainEpoch: Int]())
        rig.onPacket { [rig] info in
            let count = packets.signal { packets in
                packets[info.epoch, default: 0] += 1
                return packets[info.epoch, default: 0]
            }
            if info.epoch == 1, count == 10 { rig.raiseAgain() }
        }
        rig.raise()
        let filled = packets.wait(until: Patience.deadline(60)) { $0[2, default: 0] >= 600 ? true : nil }
        #expect(filled == true, "\(packets.withLock { $0 })")
        rig.end()
        // The picture that is being encoded, and the one at the current time.
        #expect(packets.withLock { $0[1, default: 0] } <= 12, "\(packets.withLock { $0 })")
    }

    /// A curtain that is raised and lowered before it is drawn takes back as much as any other.
    @Test func aCurtainThatWasNeverDrawnIsFilled() throws {
        let rig = try VideoRig(delay: .seconds(3))
        let packets = Monitor([CurtainEpoch: Int]())
        rig.onPacket { info in packets.signal { $0[info.epoch, default: 0] += 1 } }
        func count(_ epoch: CurtainEpoch, _ enough: Int) -> Bool {
            packets.wait(until: Patience.deadline(20)) { $0[epoch, default: 0] >= enough ? true : nil } == true
        }
        rig.raise()
        #expect(count(1, 29), "\(packets.withLock { $0 })")
        // Time stands still: the second raise directly follows the first.
        try rig.raiseUnseen()
        #expect(count(2, 30), "\(packets.withLock { $0 })")
        rig.end()
    }

    /// The same for sound: each block of silence is a piece of work.
    @Test func soundIsFilledInManyPiecesOfWork() throws {
        let clock = ManualClock(.seconds(14))
        let broadcast = BroadcastClock(clock)
        broadcast.publish(offset: .seconds(10))
        let (watched, queue, curtain) = (Watched(), PCMQueue(capacity: 1 << 16), Curtain())
        let meter = PacketMeter(into: watched)
        let worker = AudioWorker(
            queue: queue, mixer: try AudioMixer(),
            encoder: try AudioEncoder(AudioEncoderSettings(sampleRate: 48_000, channels: 2, bitrate: 128_000)),
            meter: meter, clock: broadcast, counters: BroadcastCounters(), curtain: curtain,
            takenBack: { _ in TakenBack(lastAudio: .zero) }, onFailure: { Issue.record("\($0)") })
        let (pieces, before) = (Monitor(Pieces()), Monitor(0))
        watched.onPacket.withLock { hook in
            hook = { info in
                guard info.track == .audio else { return }
                guard info.epoch == 1 else { return before.signal { $0 += 1 } }
                pieces.signal { pieces in
                    pieces.packets += 1
                    if let piece = worker.work.current { pieces.all.insert(piece.number) }
                }
            }
        }
        let keyframe = PacketInfo(track: .video, pts: .zero, dts: .zero, priority: .keyframe)
        meter.write(keyframe, payload: [UInt8(0)].span.bytes)
        let thread = try WorkerThread(name: "test-audio") { worker.run() }
        #expect(before.wait(until: Patience.deadline(20)) { $0 > 100 ? true : nil } == true)
        _ = curtain.raise(Self.holder, reason: "", at: .zero)
        clock.advance(by: .milliseconds(500))
        let filled = pieces.wait(until: Patience.deadline(20)) { $0.packets > 100 ? true : nil }
        queue.close()
        thread.join()
        // The closure holds the worker, which holds the sink.
        watched.onPacket.withLock { $0 = nil }
        #expect(filled == true)
        #expect(pieces.withLock { $0.all.count } > 100)
    }

    /// The thread that raises the curtain is delayed for half a second before it leaves the figure. The gap is still
    /// filled, although the take-back covers the packets of a delay.
    @Test func aFigureThatComesLateIsFilled() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("fill")
            let (clock, curtain) = (MonotonicClock(), Curtain())
            let broadcast = try Broadcast(recordingIn: folder, curtain: curtain) { $0.buffer.delay = .seconds(2) }
            broadcast.clock.start()
            func run(_ seconds: Int64, _ what: String) throws {
                let newest = broadcast.log.statistics.written
                // Ten pictures and 47 blocks per second.
                try waitFor(what) { broadcast.log.statistics.written >= newest + 57 * Int(seconds) - 10 }
            }
            try run(4, "four seconds")
            _ = curtain.raise(Self.holder, reason: "", at: clock.now())
            pause(until: clock.now() + .milliseconds(500))
            let (taken, _) = broadcast.takeBack(newerThan: nil)
            #expect(taken.videoPackets > 10)
            try run(2, "two seconds more")
            #expect(broadcast.close(deadline: clock.now() + .seconds(15)))
            let tags = try FLVRecording(folder.file("out.flv")).tags
            func longestGap(_ type: UInt8) -> Int {
                let times = tags.filter { $0.type == type && !$0.isVideoSequenceHeader && !$0.isAudioSequenceHeader }
                    .map(\.timestamp)
                    // The background that opens the stream has time zero, and the next picture 0.6 s.
                    .filter { $0 >= 500 }
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times do not rise")
                return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 99_999
            }
            // Pictures come every 100 ms; one may be late on a busy machine.
            #expect(longestGap(9) <= 400, "\(longestGap(9)) ms without a picture")
            #expect(longestGap(8) <= 60, "\(longestGap(8)) ms without sound")
        }
    }

    /// A video thread that has shown a picture, and the raises that it sees.
    private final class VideoRig: Sendable {
        let worker: VideoWorker
        private let watched = Watched()
        private let curtain = Curtain()
        private let clock = ManualClock(.seconds(1_000))
        private let slot: FrameSlot<VideoFrameTag>
        private let standing = StandingRegions()
        private let thread: WorkerThread

        init(delay: MediaTime) throws {
            let (canvas, now) = (CurtainFillTests.canvas, MediaTime.seconds(100))
            let broadcast = BroadcastClock(clock)
            broadcast.publish(offset: .seconds(900))
            let settings = VideoEncoderSettings(canvas: canvas, bitrate: 500_000)
            let background = Picture(width: canvas.width, height: canvas.height)
            let slot = FrameSlot<VideoFrameTag>(shown: background, others: 2, clock: clock)
            self.slot = slot
            let encoder = RunningEncoder(
                try VideoEncoder(settings), settings: settings, effort: nil, sink: watched, clock: clock,
                adapt: { _ in nil }, onEffort: { _ in })
            let shown = ShownPicture(
                background, slot: slot,
                painter: CurtainPainter(.solid(.black(canvas.color.range)), canvas: canvas), standing: standing,
                secureColor: .black(canvas.color.range))
            let worker = VideoWorker(
                slot: slot, encoder: encoder, shown: shown, clock: broadcast, counters: BroadcastCounters(),
                snapshots: SnapshotBooth(canvas, size: 0, clock: clock), curtain: curtain,
                schedule: PresentationSchedule(canvas.frameRate, idleInterval: .seconds(1)),
                takenBack: { _ in TakenBack(lastVideo: now - delay) }, onFailure: { Issue.record("\($0)") })
            self.worker = worker
            let isShown = Monitor(false)
            watched.onPacket.withLock { $0 = { _ in isShown.signal { $0 = true } } }
            // Before the thread starts: the broadcast is at 100 s, so that without a picture the background is due at
            // once, and a raise would throw away the picture that comes after it.
            try Self.offerPicture(at: .seconds(100), slot, clock, curtain, standing)
            thread = try WorkerThread(name: "test-video", stackBytes: 512 * 1024) { worker.run() }
            guard isShown.wait(until: Patience.deadline(20), { $0 ? true : nil }) == true else {
                throw TestFailure("the picture was not encoded")
            }
        }

        func onPacket(_ body: @escaping @Sendable (PacketInfo) -> Void) { watched.onPacket.withLock { $0 = body } }

        /// The end of `Broadcast.takeBack`.
        func raise() {
            _ = curtain.raise(CurtainFillTests.holder, reason: "", at: .zero)
            slot.throwAway()
        }

        func raiseAgain() {
            _ = curtain.lower(CurtainFillTests.holder)
            // The curtain is drawn at most once in 100 ms.
            clock.advance(by: .milliseconds(200))
            raise()
        }

        /// Lowers, raises and lowers the curtain at once, then sends the client's next picture.
        func raiseUnseen() throws {
            _ = curtain.lower(CurtainFillTests.holder)
            raise()
            _ = curtain.lower(CurtainFillTests.holder)
            // It is due at once.
            try Self.offerPicture(at: .milliseconds(100_050), slot, clock, curtain, standing)
        }

        private static func offerPicture(
            at time: MediaTime, _ slot: FrameSlot<VideoFrameTag>, _ clock: ManualClock, _ curtain: Curtain,
            _ standing: StandingRegions
        ) throws {
            let canvas = CurtainFillTests.canvas
            guard let picture = slot.acquire() else { throw TestFailure("no picture") }
            let source = VideoSampleFormat(packed: .bgra, width: canvas.width, height: canvas.height)
            let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .fit)
            slot.offer(
                picture,
                VideoFrameTag(
                    time: time, arrival: clock.now(), stamp: curtain.stamp, plan: plan,
                    regions: standing.version))
        }

        func end() {
            slot.close()
            thread.join()
            // The closure may hold the rig.
            watched.onPacket.withLock { $0 = nil }
        }
    }
}

@Suite struct FillLimitTests {
    private func stamp(raised times: Int) -> Curtain.Stamp {
        let (curtain, holder) = (Curtain(), PrivacyHolder(.operator))
        for _ in 0..<times {
            _ = curtain.lower(holder)
            _ = curtain.raise(holder, reason: "", at: .zero)
        }
        return curtain.stamp
    }

    @Test func aBroadcastThatEndsIsFilledForASecond() {
        var limit = FillLimit()
        func goesOn(_ epoch: CurtainEpoch, _ stamp: Curtain.Stamp, _ isEnding: Bool, _ now: MediaTime) -> Bool {
            limit.goesOn(epoch, current: stamp, isEnding: isEnding, at: now)
        }
        let up = stamp(raised: 1)
        #expect(goesOn(1, up, false, .zero) == true)
        #expect(goesOn(1, up, false, .seconds(50)) == true)
        #expect(goesOn(1, up, true, .seconds(51)) == true)
        #expect(goesOn(1, up, true, .milliseconds(51_999)) == true)
        #expect(goesOn(1, up, true, .seconds(52)) == false)
        #expect(goesOn(1, up, true, .seconds(60)) == false)
    }

    @Test func aNewerRaiseHasItsOwnFilling() {
        var limit = FillLimit()
        func goesOn(_ epoch: CurtainEpoch, _ stamp: Curtain.Stamp, _ isEnding: Bool, _ now: MediaTime) -> Bool {
            limit.goesOn(epoch, current: stamp, isEnding: isEnding, at: now)
        }
        #expect(goesOn(1, stamp(raised: 2), false, .zero) == false)
        #expect(goesOn(2, stamp(raised: 2), false, .zero) == true)
    }
}
