import Buffering
import FrameGeometry
import IngestProtocol
import LinuxSystem
import MediaCore
import Privacy
import TestSupport
import Testing
import Timeline

@testable import Pipeline

/// The parts of `CaptureInlet`, each tested alone.
@Suite struct InletTests {
    private static let canvas = CanvasFormat(width: 64, height: 36, frameRate: FrameRate(30))
    private static let pcm = AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16)

    private let counters = BroadcastCounters()
    private let clock = ManualClock(.seconds(100))

    private func frame(_ width: Int = 32, _ height: Int = 16, orientationRaw: UInt8 = 1) -> VideoMessage {
        VideoMessage(
            pts: .zero, format: VideoSampleFormat(packed: .gray, width: width, height: height),
            orientationRaw: orientationRaw)
    }

    // MARK: FramePlanner

    @Test func aPlanIsMadeOncePerFormat() {
        let planner = FramePlanner(canvas: Self.canvas, fit: .fit, convention: .exif, counters: counters)
        #expect(planner.latest == nil && planner.latest(for: frame()) == nil && planner.sourceDescription.isEmpty)
        let plan = planner.plan(for: frame())
        #expect(planner.plan(for: frame()) == plan && planner.latest == plan && planner.latest(for: frame()) == plan)
        #expect(planner.sourceDescription == "32x16 GREY" && counters.formatChanges.current == 0)
        // Reading changes nothing.
        #expect(planner.latest(for: frame(16, 32)) == nil && planner.latest == plan)
        #expect(planner.plan(for: frame(orientationRaw: 6)) != plan)
        #expect(planner.latest(for: frame()) == nil && counters.formatChanges.current == 1)
        #expect(planner.sourceDescription.hasPrefix("32x16 GREY, "))
    }

    @Test(arguments: [(UInt8(0), UInt64(1), UInt64(0)), (9, 0, 1), (255, 0, 1), (1, 0, 0), (8, 0, 0)])
    func orientationsThatAreNoneAreCounted(raw: UInt8, missing: UInt64, invalid: UInt64) {
        let planner = FramePlanner(canvas: Self.canvas, fit: .fit, convention: .exif, counters: counters)
        let transform = planner.transform(of: frame(orientationRaw: raw))
        #expect((transform == .identity) == (raw != 8))
        #expect(counters.orientationMissing.current == missing && counters.orientationInvalid.current == invalid)
    }

    // MARK: SampleRegions

    private func hiding(_ x: Int, _ width: Int) -> VideoMessage {
        var message = frame()
        message.regions.hide(x: x, y: 0, width: width, height: 16, pictureWidth: 32, pictureHeight: 16)
        return message
    }

    /// A client that expects regions to be hidden must learn that they would not be. A client without regions may
    /// continue.
    @Test(arguments: [false, true]) func secureRegionsThatAreOffAreRefused(coversAll: Bool) throws {
        let regions = SampleRegions(
            standing: StandingRegions(), protections: Protections(off: [.secureRegions]))
        var secret = frame()
        if coversAll { secret.regions.coversAll = true } else { secret = hiding(4, 8) }
        try regions.check(frame())
        #expect(!regions.clientHidesSomething)
        let error = #expect(throws: ProtocolError.self) { try regions.check(secret) }
        #expect(error?.code == .badSecureRegions && error?.isFatal == false)
        #expect(regions.clientHidesSomething, "the client does, whether it is done or not")
        try regions.check(frame())
        #expect(!regions.clientHidesSomething)
        try SampleRegions(standing: StandingRegions(), protections: Protections()).check(secret)
    }

    @Test func standingRegionsJoinTheSamplesOwn() throws {
        let standing = StandingRegions()
        let regions = SampleRegions(standing: standing, protections: Protections())
        let message = hiding(4, 8)
        #expect(regions.all(of: message, transform: .identity) == message.regions)
        let before = regions.version
        _ = standing.set(
            StandingRegion(
                holder: PrivacyHolder(.operator), name: "corner",
                edges: RectEdges(left: 0.5, top: 0, right: 1, bottom: 1), unit: .normalized))
        #expect(regions.version != before)
        let both = regions.all(of: message, transform: .identity)
        #expect(both.count == 2 && both[0] == message.regions[0])
        #expect((both[1].left, both[1].right, both[1].bottom) == (16, 32, 16))
    }

    /// There is room for as many as a client can send beside as many as can stand.
    @Test func manyRegionsHideNoMoreThanTheyCover() {
        let standing = StandingRegions()
        for index in 0..<StandingRegions.capacity {
            _ = standing.set(
                StandingRegion(
                    holder: PrivacyHolder(.operator), name: "\(index)",
                    edges: RectEdges(left: 0, top: 0, right: 0.5, bottom: 1), unit: .normalized))
        }
        var message = frame()
        for _ in 0..<64 { message.regions.hide(x: 0, y: 0, width: 8, height: 8, pictureWidth: 32, pictureHeight: 16) }
        let all = SampleRegions(standing: standing, protections: Protections()).all(of: message, transform: .identity)
        #expect(all.count == 128 && !all.coversAll)
    }

    // MARK: SampleTimes

    @Test func theFirstSampleStartsTheClock() {
        let clock = BroadcastClock(clock)
        let times = SampleTimes(clock: clock)
        #expect(clock.now() == nil)
        let first = times.place(.video, pts: .seconds(7), duration: .zero, arrival: .seconds(100))
        #expect(first.isAccepted && first.time == .zero && clock.now() == .zero)
        let second = times.place(.video, pts: .seconds(8), duration: .zero, arrival: .seconds(101))
        #expect(second.isAccepted && second.time == .seconds(1))
        let late = times.place(.video, pts: .seconds(8), duration: .zero, arrival: .seconds(102))
        #expect(!late.isAccepted)
    }

    /// A broadcast that waits for its client already has a time, and samples join it.
    @Test func samplesJoinAClockThatRuns() {
        let running = BroadcastClock(clock)
        running.start()
        clock.advance(by: .seconds(5))
        let first = SampleTimes(clock: running).place(.video, pts: .zero, duration: .zero, arrival: clock.now())
        #expect(first.time == .seconds(5))
    }

    // MARK: AudioInlet

    private func inlet(_ queue: PCMQueue) -> AudioInlet {
        AudioInlet(queue: queue, times: SampleTimes(clock: BroadcastClock(clock)), counters: counters)
    }

    private func begin(_ inlet: AudioInlet, frames: Int, pts: MediaTime = .zero, isPaused: Bool = false) -> Int? {
        let message = AudioMessage(pts: pts, format: Self.pcm, frames: frames)
        return inlet.begin(
            .app, message, payloadBytes: message.payloadBytes, isPaused: isPaused, arrival: clock.now())?.count
    }

    @Test func aWholeBlockIsQueuedOnce() {
        let queue = PCMQueue(capacity: 4096)
        let inlet = inlet(queue)
        #expect(begin(inlet, frames: 480) == 1920)
        clock.advance(by: .milliseconds(3))
        inlet.end(arrival: clock.now())
        inlet.end(arrival: clock.now())
        #expect(counters.audioBlocks[Int(AudioSource.app.rawValue)].current == 1)
        #expect(counters.audioFrames[Int(AudioSource.app.rawValue)].current == 480)
        guard case .block(let block, let bytes) = queue.takeNow() else {
            Issue.record("the block is queued")
            return
        }
        #expect(block.frames == 480 && block.time == .zero && block.arrival == clock.now() && bytes.count == 1920)
    }

    @Test func nothingIsQueuedWhilePausedOrOfHalfABlock() {
        let queue = PCMQueue(capacity: 4096)
        let inlet = inlet(queue)
        #expect(begin(inlet, frames: 480, isPaused: true) == nil)
        inlet.end(arrival: clock.now())
        #expect(counters.audioPaused.current == 1)
        #expect(begin(inlet, frames: 480, pts: .milliseconds(10)) == 1920)
        inlet.cancel()
        inlet.end(arrival: clock.now())
        #expect(begin(inlet, frames: 2000, pts: .milliseconds(20)) == nil, "larger than the queue")
        #expect(queue.takeNow() == nil)
    }
}
