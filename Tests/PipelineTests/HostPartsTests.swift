import ControlProtocol
import IngestProtocol
import LinuxSystem
import Logging
import MediaCore
import TestSupport
import Testing

@testable import Pipeline
@testable import Publishing

/// The host's parts, each tested alone and without a broadcast.
@Suite struct HostPartsTests {
    private let clock = ManualClock(.seconds(1000))
    private let current = CurrentBroadcast()

    private func starting() {
        current.state.withLock { $0.lifecycle = .starting(Lifecycle.Attempt(number: 1)) }
    }

    // MARK: Lifecycle

    @Test func onlyTheFirstFailureIsNews() {
        var lifecycle = Lifecycle.idle(closer: nil)
        var isNews = lifecycle.fail()
        #expect(!isNews && lifecycle.number == nil)
        lifecycle = .starting(Lifecycle.Attempt(number: 7))
        #expect(lifecycle.number == 7 && lifecycle.run == nil && lifecycle.running == nil)
        isNews = lifecycle.fail()
        #expect(isNews)
        isNews = lifecycle.fail()
        #expect(!isNews)
        let hasChanged: Void? = lifecycle.update { $0.isPaused = true }
        #expect(hasChanged == nil, "nothing runs yet")
    }

    // MARK: BroadcastPhase

    @Test func aStateIsTimedFromItsChange() {
        let phase = BroadcastPhase(current, clock: clock) { _ in }
        clock.advance(by: .seconds(5))
        starting()
        phase.note()
        #expect(phase.now.phase == (.idle, .seconds(1000)), "a client that introduces itself is no broadcast yet")
        current.state.withLock { $0.isStopping = true }
        phase.note()
        #expect(phase.now.phase == (.stopping, .seconds(1005)))
        clock.advance(by: .seconds(5))
        phase.note()
        #expect(phase.now.phase == (.stopping, .seconds(1005)))
    }

    // MARK: BroadcastLedger

    private func destination(offered: Int, sent: Int, isDrained: Bool, state: DestinationState = .stopped)
        -> DestinationSnapshot
    {
        var snapshot = DestinationSnapshot(
            name: "main", kind: .rtmp, location: "rtmp://server/live", since: .zero)
        snapshot.offeredPackets = offered
        snapshot.video.packets = sent
        snapshot.isDrained = isDrained
        snapshot.state = state
        return snapshot
    }

    @Test(arguments: [
        (10, 0, false, DestinationState.stopped, true), (0, 0, false, .failed, true), (0, 0, false, .stopped, false),
        (10, 0, true, .stopped, false), (10, 3, false, .stopped, false),
    ])
    func aBroadcastThatReachedNobody(
        offered: Int, sent: Int, isDrained: Bool, state: DestinationState, isNothing: Bool
    ) {
        let ledger = BroadcastLedger()
        let snapshot = destination(offered: offered, sent: sent, isDrained: isDrained, state: state)
        ledger.notePublished([snapshot])
        #expect(!ledger.now.hasPublishedNothing, "it is not over")
        ledger.notePublished([snapshot], isEnded: true)
        #expect(ledger.now.hasPublishedNothing == isNothing && ledger.now.hasPublished == (sent > 0))
        // A broadcast that has published does not make up for it.
        ledger.notePublished([destination(offered: 1, sent: 1, isDrained: true)], isEnded: true)
        #expect(ledger.now.hasPublishedNothing == isNothing && ledger.now.hasPublished)
    }

    @Test func whatOneBroadcastLostStays() {
        let ledger = BroadcastLedger()
        var forgotten = 0
        for hasSentAll in [true, false, true] {
            ledger.note(ended: StatusReport(), [], hasSentAll: hasSentAll, drained: nil) { forgotten += 1 }
        }
        #expect(!ledger.now.hasSentAll && ledger.now.hasDrained && forgotten == 3)
        ledger.note(ended: StatusReport(), [], hasSentAll: true, drained: false) {}
        #expect(!ledger.now.hasDrained)
    }

    // MARK: AnnotationLog

    @Test func annotationsAreLoggedUpToALimitASecond() {
        let recorder = LogRecorder()
        let log = AnnotationLog(Logger(label: "test") { _ in recorder }, clock: clock)
        func annotate(_ count: Int) {
            for number in 0..<count { log.note(AnnotatedMessage(key: "title", value: "\(number)")) }
        }
        annotate(100)
        // One more line says that further ones are left out.
        #expect(recorder.lines.count == AnnotationLog.linesPerSecond + 1)
        clock.advance(by: .milliseconds(999))
        annotate(1)
        #expect(recorder.lines.count == AnnotationLog.linesPerSecond + 1)
        clock.advance(by: .milliseconds(1))
        annotate(3)
        #expect(recorder.lines.count == AnnotationLog.linesPerSecond + 4)
    }

    // MARK: ThreadWatch

    @Test func aHangingIngestThreadIsNamed() {
        let mark = WorkMark("the ingest thread")
        let watch = ThreadWatch(server: mark, current, clock: clock)
        watch.setPatience(.seconds(2))
        mark.begin()
        var seen: [String?] = []
        for _ in 0..<6 {
            seen.append(watch.look())
            clock.advance(by: .milliseconds(500))
        }
        #expect(seen.prefix(4).allSatisfy { $0 == nil })
        #expect(seen.last??.hasPrefix("the ingest thread has been in one piece of work for ") == true)
        #expect(watch.wedged == seen.last)
        mark.end()
        #expect(watch.look() == nil && watch.wedged == nil)
    }

    @Test func aMainThreadThatNoLongerLooksIsFound() {
        let watch = ThreadWatch(server: WorkMark("the ingest thread"), current, clock: clock)
        watch.setPatience(.seconds(2))
        clock.advance(by: .seconds(1))
        #expect(watch.wedged == nil)
        clock.advance(by: .seconds(1))
        #expect(watch.wedged?.contains("the main thread") == true)
        // While the daemon ends, the main thread waits for the other threads.
        watch.end()
        #expect(watch.wedged == nil)
    }

    // MARK: BroadcastWatch

    @Test func aFailureEndsOnlyABroadcastThatRuns() throws {
        let rig = try PartsRig()
        rig.watch.fail("nothing runs")
        #expect(rig.log.lines.isEmpty)
        rig.current.state.withLock { $0.lifecycle = .starting(Lifecycle.Attempt(number: 1)) }
        rig.watch.fail("the encoder failed: too hot", logged: "the encoder failed")
        rig.watch.fail("another failure")
        #expect(rig.log.lines.count == 1)
        #expect(rig.log.lines.first?.metadata.values.contains("the encoder failed") == true, "\(rig.log.lines)")
    }

    @Test func aDestinationThatPublishesHasWorked() throws {
        let rig = try PartsRig()
        rig.watch.destinationChanged("main", .state(.connecting))
        #expect(rig.roster.worked.isEmpty)
        rig.watch.destinationChanged("main", .state(.publishing))
        #expect(rig.roster.worked.keys.sorted() == ["main"])
        // Without a broadcast there is nothing to end.
        rig.watch.endWithoutDestinations()
    }
}
