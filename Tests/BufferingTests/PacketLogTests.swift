@testable import Buffering
import LinuxSystem
import MediaCore
import Testing

@Suite struct PacketLogTests {
    static let limits = PacketLogLimits(maxBytes: 100_000, maxDuration: .seconds(5), maxPackets: 600)

    private func video(_ ms: Int64, _ priority: PacketPriority) -> PacketInfo {
        PacketInfo(track: .video, pts: .milliseconds(ms), dts: .milliseconds(ms), priority: priority)
    }
    private func audio(_ ms: Int64) -> PacketInfo {
        PacketInfo(track: .audio, pts: .milliseconds(ms), dts: .milliseconds(ms), priority: .audio)
    }
    private func write(_ log: PacketLog, _ info: PacketInfo, _ count: Int = 10) {
        log.write(info, payload: [UInt8](repeating: 7, count: count).span.bytes)
    }
    /// Everything readable now, as "V100" or "A100", the letter lower-case for what is not a keyframe.
    private func drain(_ cursor: PacketCursor) -> [String] {
        var buffer = PacketBuffer(limit: 50_000)
        var out: [String] = []
        while case .packet(let info, _) = cursor.next(into: &buffer, headroom: 0, until: .zero) {
            out.append("\(info.track == .audio ? "a" : info.isKeyframe ? "V" : "v")\(info.dts.milliseconds)")
        }
        return out
    }

    @Test func startsAtTheNewestKeyframeWithAudioFromThere() {
        let log = PacketLog(limits: Self.limits)
        for info in [video(0, .keyframe), audio(0), video(33, .reference), video(66, .keyframe), audio(60), audio(81)] {
            write(log, info)
        }
        #expect(drain(log.makeCursor()) == ["V66", "a81"])
    }

    @Test func waitsForAKeyframeAndAsksOnce() {
        let log = PacketLog(limits: Self.limits)
        let asked = Monitor(0)
        log.onKeyframeWanted = { asked.withLock { $0 += 1 } }
        let cursor = log.makeCursor()
        #expect(drain(cursor) == [])
        for ms in 0..<20 { write(log, video(Int64(ms) * 33, .reference)) }
        #expect(drain(cursor) == [])
        #expect(asked.withLock { $0 } == 1)
        // A request that the encoder did not hear is made again after a second of video.
        for ms in 20..<40 { write(log, video(Int64(ms) * 33, .reference)) }
        #expect(drain(cursor) == [])
        #expect(asked.withLock { $0 } == 2)
        write(log, video(2000, .keyframe))
        write(log, video(2033, .reference))
        #expect(drain(cursor) == ["V2000", "v2033"])
        #expect(cursor.drops == DropCounters(), "what comes before the start is not a loss")
    }

    @Test func aStaleKeyframeIsNoPlaceToStart() {
        let log = PacketLog(limits: Self.limits)
        let asked = Monitor(0)
        log.onKeyframeWanted = { asked.withLock { $0 += 1 } }
        write(log, video(0, .keyframe))
        write(log, video(1600, .reference))
        let live = log.makeCursor()
        let file = log.makeCursor(policy: .keepEverything)
        #expect(drain(live) == [])
        #expect(asked.withLock { $0 } == 1)
        #expect(drain(file) == ["V0", "v1600"])
        // Once nothing more comes, an old keyframe is better than none.
        let late = log.makeCursor()
        log.end()
        #expect(drain(late) == ["V0", "v1600"])
    }

    @Test func softLimitShedsDisposableFramesOnly() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        for info in [
            video(0, .keyframe), audio(0), video(33, .disposable), video(66, .reference), video(799, .disposable),
            video(832, .reference), audio(832),
        ] { write(log, info) }
        #expect(drain(cursor) == ["V0", "a0", "v66", "v799", "v832", "a832"])
        #expect(cursor.drops.video.disposable == 1)
        #expect(cursor.drops.total == 1)
    }

    @Test func hardLimitJumpsToTheNewestKeyframeAndKeepsTheAudio() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        #expect(drain(cursor) == ["V0"])
        for info in [
            video(33, .reference), audio(33), video(66, .reference), video(500, .keyframe), video(1800, .keyframe),
            audio(1800), video(1833, .reference), video(2100, .reference), audio(2090),
        ] { write(log, info) }
        #expect(drain(cursor) == ["a33", "V1800", "a1800", "v1833", "a2090", "v2100"])
        #expect(cursor.drops.video.late == 3)
    }

    @Test func hardLimitWithoutAKeyframeAsksAtOnceAndDropsWhatWouldNotDecode() {
        let log = PacketLog(limits: Self.limits)
        let asked = Monitor(0)
        log.onKeyframeWanted = { asked.withLock { $0 += 1 } }
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        #expect(drain(cursor) == ["V0"])
        #expect(asked.withLock { $0 } == 0)
        for ms in stride(from: Int64(33), through: 1650, by: 33) { write(log, video(ms, .reference)) }
        #expect(drain(cursor) == [])
        #expect(asked.withLock { $0 } == 1)
        write(log, video(1683, .reference))
        #expect(drain(cursor) == [])
        write(log, video(1716, .keyframe))
        #expect(drain(cursor) == ["V1716"])
        let drops = cursor.drops.video
        // 33...132 are more than 1500 ms behind 1650; the rest has lost its reference.
        #expect(drops.late == 4 && drops.undecodable == 47)
    }

    @Test func aFrameThatDoesNotFitIsDroppedWithItsDependants() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        #expect(drain(cursor) == ["V0"])
        write(log, video(33, .reference), 60_000)  // more than the reader's 50,000
        write(log, video(66, .reference))
        #expect(drain(cursor) == [])
        write(log, video(99, .keyframe))
        write(log, video(132, .disposable), 60_000)
        write(log, video(165, .reference))
        #expect(drain(cursor) == ["V99", "v165"])
        #expect(cursor.drops.video.tooLarge == 2 && cursor.drops.video.undecodable == 1)
    }

    @Test func whatTheLogRefusesIsALossToEveryReader() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        #expect(drain(cursor) == ["V0"])
        write(log, video(33, .reference), 100_001)
        write(log, video(66, .reference))
        write(log, video(66, .keyframe))
        write(log, audio(20))
        write(log, audio(10))
        write(log, video(99, .keyframe))
        #expect(drain(cursor) == ["a20", "V99"])
        #expect(cursor.drops.video.tooLarge == 1 && cursor.drops.video.outOfOrder == 1)
        #expect(cursor.drops.video.undecodable == 1 && cursor.drops.audio.outOfOrder == 1)
        #expect(log.statistics.refused == 3)
    }

    @Test func endDrainsThenEnds() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        log.end()
        write(log, video(33, .reference))
        var buffer = PacketBuffer(limit: 1000)
        #expect(read(cursor, &buffer).0 == .packet(video(0, .keyframe), byteCount: 10))
        #expect(read(cursor, &buffer, until: nil).0 == .ended)
        #expect(log.makeCursor().next(into: &buffer, headroom: 0, until: nil) != .ended, "the log still has a keyframe")
    }

    @Test func wakeIsHeardOnceEvenBeforehand() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe))
        cursor.wake()
        var buffer = PacketBuffer(limit: 1000)
        #expect(read(cursor, &buffer, until: nil).0 == .woken)
        #expect(read(cursor, &buffer, until: nil).0 == .packet(video(0, .keyframe), byteCount: 10))
        #expect(read(cursor, &buffer).0 == .timeout)
    }

    @Test func backlogIsWhatHasNotBeenRead() {
        let log = PacketLog(limits: Self.limits)
        let cursor = log.makeCursor()
        write(log, video(0, .keyframe), 100)
        write(log, audio(0), 20)
        write(log, video(33, .reference), 50)
        var buffer = PacketBuffer(limit: 1000)
        _ = read(cursor, &buffer)
        #expect(cursor.backlog.bytes == 70 && cursor.backlog.duration == .milliseconds(33))
        _ = drain(cursor)
        #expect(cursor.backlog == CursorBacklog())
    }
}
