import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Privacy

/// Promise: an answer that says "persisted" comes after the record is on the disk, and no disk keeps an answer waiting.
@Suite(.endsWithin(120)) struct PrivacyKeeperTests {
    /// A disk that takes records when it is told to.
    private final class Disk: Sendable {
        enum Mood { case taking, hanging, full }
        private struct State {
            var mood = Mood.taking
            var written: [PrivacyRecord] = []
            var tries = 0
            var mark: PrivacyStateFile.Mark?
        }
        private let state = Monitor(State())
        let record = Monitor(PrivacyRecord())

        var mood: Mood {
            get { state.withLock { $0.mood } }
            set { state.signal { $0.mood = newValue } }
        }
        var written: [PrivacyRecord] { state.withLock { $0.written } }
        var tries: Int { state.withLock { $0.tries } }
        /// Which file is there.
        var mark: PrivacyStateFile.Mark? {
            get { state.withLock { $0.mark } }
            set { state.withLock { $0.mark = newValue } }
        }

        func write(_ record: PrivacyRecord) throws(StateFileFailure) {
            state.signal { $0.tries += 1 }
            let taken = state.wait { state -> Bool? in
                switch state.mood {
                case .hanging: return nil
                case .full: return false
                case .taking:
                    state.written.append(record)
                    let number = state.written.count
                    state.mark = .init(device: 1, inode: UInt(number), size: 10, seconds: 0, nanoseconds: number)
                    return true
                }
            }
            guard taken == true else { throw StateFileFailure(sentence: "No space left on device") }
        }

        func hold(_ names: String...) {
            record.withLock { $0.holds = names.map { .init(holder: PrivacyHolder(.app, $0), reason: "", since: 0) } }
        }

        func keeper(_ clock: any TimeSource) -> PrivacyKeeper {
            PrivacyKeeper(
                clock: clock, record: { [record] in record.withLock { $0 } },
                mark: { [self] in mark }, write: { [self] record throws(StateFileFailure) in try write(record) })
        }
    }

    private func outcome(_ keeper: PrivacyKeeper, _ number: UInt64) throws -> Bool {
        try waitFor("the write") { keeper.isWritten(number) }
    }

    @Test func whatIsSaidToBeWrittenIsWritten() throws {
        let disk = Disk()
        let keeper = disk.keeper(MonotonicClock())
        try keeper.start(onDisk: nil)
        disk.hold("a")
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.last?.holds.map(\.holder.name) == ["a"])
        // Nothing new costs no write.
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.count == 1)
        disk.hold("a", "b")
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.count == 2 && disk.written.last?.holds.count == 2)
        #expect(keeper.settle() == nil)
        keeper.stop()
    }

    /// Bug: what had been written once counted as being on the disk, though the file was gone, or another's.
    @Test func aFileThatIsGoneIsWrittenAgain() throws {
        let disk = Disk()
        let keeper = disk.keeper(MonotonicClock())
        disk.hold("a")
        let record = disk.record.withLock { $0 }
        disk.mark = .init(device: 1, inode: 0, size: 10, seconds: 0, nanoseconds: 0)
        try keeper.start(onDisk: record)
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.isEmpty)
        disk.mark = nil
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written == [record])
        disk.mark?.inode += 1
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written == [record, record])
        disk.mark?.nanoseconds += 1
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.count == 3)
        #expect(try outcome(keeper, keeper.note()))
        #expect(disk.written.count == 3)
        // And where it cannot be written again.
        (disk.mark, disk.mood) = (nil, .full)
        #expect(try !outcome(keeper, keeper.note()))
        keeper.stop()
    }

    /// The answer does not wait for it, and what was changed meanwhile is written when it comes back.
    @Test func aDiskThatHangs() throws {
        let (disk, clock) = (Disk(), ManualClock())
        let keeper = disk.keeper(clock)
        try keeper.start(onDisk: nil)
        disk.mood = .hanging
        disk.hold("a")
        let first = keeper.note()
        try waitFor("the write to begin") { disk.tries == 1 }
        #expect(keeper.isWritten(first) == nil)
        clock.advance(by: PrivacyKeeper.patience + .milliseconds(1))
        #expect(keeper.isWritten(first) == false)
        disk.hold("a", "b")
        let second = keeper.note()
        // No further request waits for a disk that is known to hang.
        #expect(keeper.isWritten(second) == false)
        guard case .failing = keeper.settle() else {
            Issue.record("nobody is told")
            return
        }
        #expect(keeper.settle() == nil)
        disk.mood = .taking
        #expect(try waitFor("the second write") { keeper.isWritten(second) == true ? true : nil })
        #expect(keeper.isWritten(first) == true)
        #expect(disk.written.last?.holds.count == 2)
        #expect(keeper.settle() == .writing)
        keeper.stop()
    }

    @Test func aDiskThatIsFullIsTriedAgain() throws {
        let (disk, clock) = (Disk(), ManualClock())
        let keeper = disk.keeper(clock)
        try keeper.start(onDisk: nil)
        disk.mood = .full
        disk.hold("a")
        let number = keeper.note()
        #expect(try !outcome(keeper, number))
        #expect(keeper.settle() == .failing("No space left on device"))
        disk.mood = .taking
        // Once a second.
        try waitFor("another try") {
            _ = keeper.settle()
            return keeper.isWritten(number) == true
        }
        #expect(disk.written.map(\.holds.count) == [1])
        keeper.stop()
    }

    /// What is written at the end is written; a disk that hangs keeps nobody.
    @Test func theEnd() throws {
        let disk = Disk()
        let keeper = disk.keeper(MonotonicClock())
        try keeper.start(onDisk: nil)
        disk.hold("a")
        let number = keeper.note()
        keeper.stop()
        #expect(keeper.isWritten(number) == true && disk.written.count == 1)
        let hung = disk.keeper(MonotonicClock())
        try hung.start(onDisk: nil)
        disk.mood = .hanging
        _ = hung.note()
        hung.stop()
        #expect(disk.written.count == 1)
        disk.mood = .taking
    }

    // MARK: What a daemon begins with

    private func restored(
        _ record: PrivacyRecord, off: Set<Protection> = []
    ) -> PrivacyRestoration {
        PrivacyRestoration(.record(record), off: off, epoch: 1000, now: .seconds(100))
    }

    @Test func switchesAreWhatACommandHasMadeOfThem() {
        var record = PrivacyRecord()
        record.switches = [.takeBack: false, .captureState: false]
        #expect(restored(record).off == [.takeBack, .captureState])
        // The file says so by now itself.
        let restored = restored(record, off: [.takeBack])
        #expect(restored.off == [.takeBack, .captureState])
        #expect(restored.turned == [.captureState])
    }

    @Test func aRestartTurnsNothingOffThatIsReliedOn() {
        let off: Set<Protection> = [.curtain, .standingRegions]
        var record = PrivacyRecord()
        #expect(restored(record, off: off).off == [.curtain, .standingRegions])
        record.holds = [.init(holder: PrivacyHolder(.app, "a"), reason: "", since: 0)]
        record.regions = [
            StandingRegion(
                holder: PrivacyHolder(.app, "a"), name: "r", edges: RectEdges(left: 0, top: 0, right: 1, bottom: 1),
                unit: .normalized)
        ]
        #expect(restored(record, off: off).off == [])
        #expect(restored(record, off: off).keptOn == [.curtain, .standingRegions])
        // An app that was consulted is to come back, be told, and be waited for.
        var consulted = PrivacyRecord()
        consulted.consulting = [PrivacyHolder(.app, "a")]
        let more = off.union([.captureState])
        #expect(restored(consulted, off: more).off == [.standingRegions])
        #expect(restored(consulted, off: more).keptOn == [.curtain, .captureState])
        consulted.switches = [.curtain: false]
        #expect(restored(consulted).off == [.curtain])
        // Forced off by a command: the regions are kept, and not hidden.
        record.switches = [.standingRegions: false]
        #expect(restored(record).off == [.standingRegions])
        #expect(restored(record).regions.count == 1)
    }

    @Test func aFileThatCannotBeReadRaisesTheCurtain() {
        let restored = PrivacyRestoration(
            .unreadable(why: "", keptAs: nil), off: [.curtain], epoch: 0, now: .seconds(1))
        #expect(restored.holds.map(\.holder) == [.stateUnreadable])
        #expect(restored.off == [])
        let curtain = Curtain(heldBy: restored.holds)
        #expect(curtain.stamp.isUp && curtain.prospect == .hidden)
        #expect(!PrivacyHolder.stateUnreadable.isAutomatic && PrivacyHolder.stateUnreadable.outlivesTheDaemon)
    }

    @Test func nobodyHasHeldItSinceTheFuture() {
        var record = PrivacyRecord()
        record.holds = [Int.min, 0, 51_000, Int.max].map {
            .init(holder: PrivacyHolder(.app, "a"), reason: "", since: $0)
        }
        let since = restored(record).holds.map(\.since)
        #expect(since[1] == .milliseconds(-1000) && since[2] == .seconds(50) && since[3] == .seconds(100))
        #expect(since.allSatisfy { $0 <= .seconds(100) })
    }
}
