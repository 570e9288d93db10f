@testable import Buffering
import LinuxSystem
import MediaCore
import Testing

/// Promise: what was taken back reaches no reader, whatever it had read; what comes in its place does.
@Suite struct TakeBackTests {
    private static let limits = PacketLogLimits(maxBytes: 100_000, maxDuration: .seconds(5), maxPackets: 600)

    private func video(_ ms: Int64, _ priority: PacketPriority = .reference, _ epoch: CurtainEpoch = 0) -> PacketInfo {
        PacketInfo(
            track: .video, pts: .milliseconds(ms), dts: .milliseconds(ms), priority: priority, epoch: epoch)
    }
    private func audio(_ ms: Int64, _ epoch: CurtainEpoch = 0) -> PacketInfo {
        PacketInfo(track: .audio, pts: .milliseconds(ms), dts: .milliseconds(ms), priority: .audio, epoch: epoch)
    }
    private func write(_ log: PacketLog, _ infos: PacketInfo...) {
        for info in infos { log.write(info, payload: [UInt8](repeating: 7, count: 10).span.bytes) }
    }
    private func drain(_ cursor: PacketCursor) -> [String] {
        var buffer = PacketBuffer(limit: 50_000)
        var out: [String] = []
        while case .packet(let info, _) = cursor.next(into: &buffer, headroom: 0, until: .zero) {
            out.append("\(info.track == .audio ? "a" : info.isKeyframe ? "V" : "v")\(info.dts.milliseconds)")
        }
        return out
    }

    @Test func nothingUnreadIsReadAndWhatComesLateIsRefused() {
        let log = PacketLog(limits: Self.limits)
        let (fast, slow) = (log.makeCursor(), log.makeCursor())
        write(log, video(0, .keyframe), audio(0))
        #expect(drain(fast) == ["V0", "a0"] && drain(slow) == ["V0", "a0"])
        write(log, video(33), audio(21))
        #expect(drain(fast) == ["a21", "v33"])
        write(log, video(66), audio(43))
        let taken = log.takeBack(epoch: 1)
        #expect(taken.videoPackets == 1 && taken.audioPackets == 1)
        #expect(taken.lastVideo == .milliseconds(33) && taken.lastAudio == .milliseconds(21))
        // The encoder had it in hand.
        write(log, video(100))
        #expect(drain(fast) == [] && drain(slow) == [])
        write(log, video(40, .keyframe, 1), audio(43, 1), video(73, .reference, 1))
        #expect(drain(fast) == ["V40", "a43", "v73"])
        #expect(drain(slow) == ["V40", "a43", "v73"])
        #expect(fast.drops.video.takenBack == 2 && fast.drops.audio.takenBack == 1)
        #expect(slow.drops.video.takenBack == 3 && slow.drops.audio.takenBack == 2)
        #expect(log.statistics.refused == 0)
    }

    /// With a delay, what takes their place is due when they would have been, and not only after them.
    @Test func aDelayIsFilled() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor(policy: CursorPolicy(delay: .seconds(2)))
        for ms in stride(from: Int64(0), through: 3000, by: 100) {
            write(log, video(ms, ms == 0 ? .keyframe : .reference), audio(ms))
        }
        #expect(drain(cursor).last == "a1000")
        let taken = log.takeBack(epoch: 1)
        #expect(taken.lastVideo == .milliseconds(1000) && taken.videoPackets == 20)
        #expect(drain(cursor) == [])
        for ms in stride(from: Int64(1100), through: 3000, by: 100) {
            write(log, video(ms, ms == 1100 ? .keyframe : .reference, 1), audio(ms, 1))
        }
        // Nothing is due yet: the newest is as new as before.
        #expect(drain(cursor) == [])
        write(log, video(3100, .reference, 1), audio(3100, 1))
        #expect(drain(cursor) == ["V1100", "a1100"])
        write(log, video(3200, .reference, 1), audio(3200, 1))
        #expect(drain(cursor) == ["v1200", "a1200"])
    }

    @Test func onlyTheNewest() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor(policy: CursorPolicy(delay: .seconds(2)))
        for ms in stride(from: Int64(0), through: 3000, by: 100) {
            write(log, video(ms, ms % 500 == 0 ? .keyframe : .reference), audio(ms))
        }
        #expect(drain(cursor).last == "a1000")
        let taken = log.takeBack(epoch: 1, newerThan: .seconds(1))
        #expect(taken.lastVideo == .milliseconds(2000) && taken.lastAudio == .milliseconds(2000))
        #expect(taken.videoPackets == 10)
        for ms in stride(from: Int64(2100), through: 4400, by: 100) {
            write(log, video(ms, ms == 2100 ? .keyframe : .reference, 1), audio(ms, 1))
        }
        let seen = drain(cursor)
        #expect(seen.filter { $0.contains("2000") || $0.contains("2100") } == ["V2000", "a2000", "V2100", "a2100"])
        #expect(seen.count == 28, "\(seen)")
    }

    /// With B-frames a picture is decoded before it is shown: what is kept is shown up to a later time.
    @Test func whatIsKeptIsShownLater() {
        let log = PacketLog(limits: Self.limits)
        let shown: [Int64] = [0, 100, 33, 67, 200, 133, 167]
        for (index, pts) in shown.enumerated() {
            log.write(
                PacketInfo(
                    track: .video, pts: .milliseconds(pts), dts: .milliseconds(Int64(index) * 33 - 67),
                    priority: index == 0 ? .keyframe : .reference, epoch: 0),
                payload: [UInt8](repeating: 7, count: 10).span.bytes)
        }
        let taken = log.takeBack(epoch: 1, newerThan: .milliseconds(50))
        #expect(taken.keptUntil == .milliseconds(81))
        #expect(taken.lastKeptPTS == .milliseconds(200))
        #expect(log.takeBack(epoch: 2).lastKeptPTS == nil)
    }

    /// Whoever begins afterwards does not begin with what was taken back.
    @Test func aNewReaderBeginsWithTheNewEpoch() {
        let log = PacketLog(limits: Self.limits)
        write(log, video(0, .keyframe), audio(0), video(33))
        _ = log.takeBack(epoch: 1)
        let cursor = log.makeCursor()
        #expect(drain(cursor) == [])
        write(log, video(10, .keyframe, 1), audio(21, 1))
        #expect(drain(cursor) == ["V10", "a21"])
        #expect(cursor.drops == DropCounters())
    }

    @Test func whatWaitsInTheSlotIsThrownAway() throws {
        let slot = FrameSlot<Int>(shown: Picture(width: 32, height: 32), others: 2)
        slot.offer(try #require(slot.acquire()), 1)
        #expect(slot.throwAway())
        #expect(slot.newest == nil)
        guard case .woken = slot.take(until: .zero) else { return #expect(Bool(false)) }
        guard case .timeout = slot.take(until: .zero) else { return #expect(Bool(false)) }
        // Both pictures are there again.
        #expect(slot.acquire() != nil && slot.acquire() != nil && slot.acquire() == nil)
        #expect(!slot.throwAway())
    }

    /// What is thrown away is counted, a picture that waits as well as the wish to have the last one again.
    @Test func whatIsThrownAwayIsCounted() throws {
        let slot = FrameSlot<Int>(shown: Picture(width: 32, height: 32), others: 2)
        slot.offer(try #require(slot.acquire()), 1)
        slot.throwAway()
        #expect(slot.thrownAway == 1)
        slot.offerAgain(2)
        slot.throwAway()
        #expect(slot.thrownAway == 2)
        slot.throwAway()
        #expect(slot.thrownAway == 2 && slot.superseded == 0)
    }
}
