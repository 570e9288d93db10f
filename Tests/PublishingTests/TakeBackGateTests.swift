import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

@Suite struct TakeBackGateTests {
    private func packet(_ milliseconds: Int64, epoch: CurtainEpoch) -> PacketInfo {
        PacketInfo(
            track: .video, pts: .milliseconds(milliseconds), dts: .milliseconds(milliseconds), priority: .reference,
            epoch: epoch)
    }

    /// A gate through which a packet has gone, and what holds it.
    private func written(_ unsent: Held = Held()) -> (clock: ManualClock, gate: TakeBackGate, unsent: Held) {
        let clock = ManualClock()
        let gate = TakeBackGate(clock: clock)
        gate.use(unsent)
        #expect(gate.begin(packet(50, epoch: 0)))
        gate.end()
        return (clock, gate, unsent)
    }

    @Test func olderPacketsAreRefused() {
        let gate = TakeBackGate(clock: MonotonicClock())
        #expect(gate.begin(packet(10, epoch: 0)))
        gate.end()
        #expect(gate.raise(to: 1) == .milliseconds(10))
        #expect(!gate.begin(packet(11, epoch: 0)))
        #expect(gate.begin(packet(12, epoch: 1)))
        #expect(gate.lastPTS == .milliseconds(12))
    }

    /// Takes back only newer packets. Packets that were kept once are not kept at the next raise.
    @Test func keepsWhatItIsToldTo() {
        let gate = TakeBackGate(clock: MonotonicClock())
        #expect(gate.raise(to: 1, keeping: .milliseconds(100)) == nil)
        #expect(gate.begin(packet(100, epoch: 0)))
        gate.end()
        #expect(!gate.begin(packet(101, epoch: 0)))
        #expect(gate.raise(to: 2, keeping: .milliseconds(300)) == .milliseconds(100))
        #expect(!gate.begin(packet(90, epoch: 0)))
        #expect(gate.begin(packet(290, epoch: 1)))
    }

    /// A connection is not broken if all of its bytes may go out.
    @Test func breaksOnlyWhatHoldsThem() throws {
        let gate = TakeBackGate(clock: MonotonicClock())
        let unsent = Held()
        gate.use(unsent)
        #expect(gate.begin(packet(50, epoch: 0)))
        _ = gate.raise(to: 1, keeping: .milliseconds(60))
        #expect(!gate.isCut)
        gate.end()
        #expect(unsent.discards == 0)
        #expect(gate.begin(packet(70, epoch: 1)))
        _ = gate.raise(to: 2)
        #expect(gate.isCut)
        #expect(unsent.discards == 1)
    }

    /// Bug: until the next connection, the errors of all attempts were replaced by that of the curtain.
    @Test func aCutEndsWithItsConnection() {
        let (_, gate, _) = written(Held(isWaiting: true))
        _ = gate.raise(to: 1)
        #expect(gate.isCut)
        gate.release(inOrder: false)
        #expect(!gate.isCut)
    }

    /// A written packet that waits in the sink's own buffer is discarded, like one that is being written.
    @Test(arguments: [true, false]) func discardsWhatWaits(isWaiting: Bool) {
        let (_, gate, unsent) = written(Held(isWaiting: isWaiting))
        _ = gate.raise(to: 1)
        #expect(gate.isCut == isWaiting)
        #expect(unsent.discards == (isWaiting ? 1 : 0))
    }

    /// Before the close, unacknowledged bytes are discarded. Afterwards nothing accesses the connection any more.
    @Test(arguments: [(true, true, 0), (true, false, 1), (false, true, 1), (false, false, 1)])
    func discardsBeforeItIsClosed(inOrder: Bool, isAcknowledged: Bool, discards: Int) {
        let (_, gate, unsent) = written(Held(isWaiting: true, isAcknowledged: isAcknowledged))
        gate.release(inOrder: inOrder)
        #expect(unsent.discards == discards)
        #expect(gate.raise(to: 1) == .milliseconds(50))
        #expect(unsent.discards == discards)
        #expect(!gate.isCut)
    }

    /// Lost bytes that were on their way when the curtain was raised are cut off before the kernel sends them again.
    @Test(arguments: [true, false]) func cutsWhatIsLost(before: Bool) throws {
        let (clock, gate, unsent) = written()
        let sent = Delivery(
            acknowledged: 1000, outstanding: 500, silence: .seconds(5), patience: .milliseconds(100),
            isSendingAgain: false)
        unsent.state.withLock { $0 = sent }
        // Nothing was on its way until now, so the five seconds do not count.
        clock.set(.milliseconds(before ? 101 : 99))
        _ = gate.raise(to: 1)
        #expect(gate.isCut == before)
        guard !before else { return }
        #expect(gate.isAwaiting)
        #expect(!gate.cutIfLost())
        clock.set(.milliseconds(101))
        #expect(gate.cutIfLost())
        #expect(gate.isCut && !gate.isAwaiting)
        #expect(unsent.discards == 1)
    }

    /// A curtain alone breaks no connection: bytes that arrive in time are not lost, however long nothing more is
    /// acknowledged.
    @Test func whatArrivesInTimeBreaksNothing() {
        let (clock, gate, unsent) = written()
        var delivery = Delivery(
            acknowledged: 1000, outstanding: 500, silence: .milliseconds(99), patience: .milliseconds(100),
            isSendingAgain: false)
        unsent.state.withLock { $0 = delivery }
        clock.set(.milliseconds(99))
        #expect(gate.raise(to: 1) == .milliseconds(50))
        #expect(gate.isAwaiting)
        (delivery.acknowledged, delivery.outstanding, delivery.silence) = (1500, 0, .seconds(5))
        unsent.state.withLock { $0 = delivery }
        clock.set(.seconds(5))
        #expect(!gate.cutIfLost())
        #expect(!gate.isAwaiting && !gate.isCut)
        _ = gate.raise(to: 2)
        #expect(!gate.isAwaiting && !gate.isCut)
        #expect(unsent.discards == 0)
    }

    /// The wait ends when the other side has received all awaited bytes, whatever happens to later ones.
    @Test func awaitsNothingElse() throws {
        let (_, gate, unsent) = written()
        var delivery = Delivery(
            acknowledged: 1000, outstanding: 500, silence: .zero, patience: .milliseconds(100), isSendingAgain: false)
        unsent.state.withLock { $0 = delivery }
        _ = gate.raise(to: 1)
        delivery.acknowledged = 1499
        unsent.state.withLock { $0 = delivery }
        #expect(!gate.cutIfLost())
        #expect(gate.isAwaiting)
        (delivery.acknowledged, delivery.isSendingAgain) = (1500, true)
        unsent.state.withLock { $0 = delivery }
        #expect(!gate.cutIfLost())
        #expect(!gate.isAwaiting && !gate.isCut)
    }

    /// The accepted bytes of a test's sink. Counts how often they were discarded.
    private final class Held: UnsentMedia {
        let isWaiting: Bool
        let isAcknowledged: Bool
        private let count = Monitor(0)
        var discards: Int { count.withLock { $0 } }

        init(isWaiting: Bool = false, isAcknowledged: Bool = true) {
            (self.isWaiting, self.isAcknowledged) = (isWaiting, isAcknowledged)
        }
        let state = Monitor<Delivery?>(nil)
        var delivery: Delivery? { state.withLock { $0 } }
        func discard() { count.withLock { $0 += 1 } }
    }
}
