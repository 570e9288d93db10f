import ControlProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Privacy

/// A broadcast that is not there: notes what the desk asks of it, and how the curtain stands at that moment.
private final class Effects: PrivacyEffects {
    enum Call: Equatable {
        case takeBack(newerThan: MediaTime?, isUp: Bool)
        case whatWentOut
        case curtainChanged(isUp: Bool)
        case regionsChanged(to: RegionsVersion?)
        case report(PrivacyFact)
    }
    private let all = Monitor<[Call]>([])
    private let curtain = Monitor<Curtain?>(nil)
    private let usesRegions = Monitor(false)
    let receipt = CurtainReceipt(videoPackets: 3, audioPackets: 5, [("main", .seconds(2))], kept: nil)

    var calls: [Call] { all.withLock { $0 } }
    var facts: [PrivacyFact] { calls.compactMap { if case .report(let fact) = $0 { fact } else { nil } } }
    /// Forgets what was called so far, and looks at this desk's curtain from now on.
    func watch(_ desk: PrivacyDesk) {
        all.withLock { $0 = [] }
        curtain.withLock { $0 = desk.curtain }
    }
    func note(_ call: Call) { all.withLock { $0.append(call) } }
    private var isUp: Bool { curtain.withLock { $0?.stamp.isUp ?? false } }

    func takeBack(newerThan age: MediaTime?) -> CurtainReceipt? {
        note(.takeBack(newerThan: age, isUp: isUp))
        return receipt
    }
    func whatWentOut() -> CurtainReceipt? {
        note(.whatWentOut)
        return CurtainReceipt()
    }
    func curtainChanged() { note(.curtainChanged(isUp: isUp)) }
    func regionsChanged(to version: RegionsVersion?) { note(.regionsChanged(to: version)) }
    var clientHidesRegions: Bool {
        get { usesRegions.withLock { $0 } }
        set { usesRegions.withLock { $0 = newValue } }
    }
    var broadcastNumber: UInt64? { 7 }
    func report(_ fact: PrivacyFact) { note(.report(fact)) }
}

/// Promise: the desk does what protects first and tells of it afterwards, and nothing that somebody relies on goes
/// without force. No broadcast is needed to see it.
@Suite struct PrivacyDeskTests {
    private let effects = Effects()
    private let clock = ManualClock()
    private static let app = PrivacyHolder(.app, "bank", user: 1000)
    private static let other = PrivacyHolder(.app, "mail", user: 1000)

    private func desk(_ policy: PrivacyDesk.Policy = .init(), stateFile: PrivacyStateFile? = nil) -> PrivacyDesk {
        let desk = PrivacyDesk(policy, stateFile: stateFile, clock: clock, effects: effects)
        effects.watch(desk)
        return desk
    }

    private func region(_ name: String, of holder: PrivacyHolder) -> StandingRegion {
        StandingRegion(
            holder: holder, name: name, edges: RectEdges(left: 0, top: 0, right: 0.5, bottom: 0.5), unit: .normalized)
    }

    // MARK: The curtain

    /// First the curtain, so that nothing new goes out; then what is on its way; then everybody is told.
    @Test func raisingHasItsOrder() throws {
        let desk = desk()
        let receipt = try desk.raise(Self.app, reason: "balance")
        #expect(receipt == effects.receipt)
        let fact = PrivacyFact.curtainRaised(
            .init(holder: Self.app, hasRoom: true, isFirst: true, reason: "balance", receipt: receipt))
        #expect(
            effects.calls == [.takeBack(newerThan: nil, isUp: true), .curtainChanged(isUp: true), .report(fact)])
        #expect(fact.auditLines.map(\.event) == ["curtain_raised"])
    }

    @Test func aSecondHolderTakesNothingBackAndKeepsItUp() throws {
        let desk = desk()
        try desk.raise(Self.app, reason: "")
        effects.watch(desk)
        try desk.raise(Self.other, reason: "")
        #expect(effects.calls.prefix(2) == [.whatWentOut, .curtainChanged(isUp: true)])
        #expect(desk.lower(reason: "done") { $0 == Self.app })
        #expect(desk.isCurtainUp)
        guard case .curtainReleased(let release)? = effects.facts.last else {
            Issue.record("no fact: \(effects.calls)")
            return
        }
        #expect(release.left == [Self.other] && !release.isDown)
        #expect(effects.facts.last?.auditLines.map(\.event) == ["curtain_released"])
        #expect(desk.lower(reason: "done") { $0 == Self.other })
        #expect(!desk.isCurtainUp)
        #expect(effects.facts.last?.auditLines.map(\.event) == ["curtain_lowered"])
    }

    /// Whoever lets go last ends it, whoever lets go before is written down as one that let go.
    @Test func allLetGoAtOnce() throws {
        let desk = desk()
        try desk.raise(Self.app, reason: "")
        try desk.raise(Self.other, reason: "")
        effects.watch(desk)
        desk.lower(reason: "force") { _ in true }
        #expect(effects.calls.count == 2 && effects.calls.first == .curtainChanged(isUp: false))
        #expect(effects.facts.first?.auditLines.map(\.event) == ["curtain_released", "curtain_lowered"])
    }

    @Test func lettingGoOfNothingIsNoNews() throws {
        let desk = desk()
        #expect(!desk.lower(reason: "") { _ in true })
        try desk.raise(Self.app, reason: "")
        effects.watch(desk)
        #expect(!desk.lower(reason: "") { $0 == Self.other })
        try desk.raise(Self.app, reason: "again")
        #expect(effects.calls == [.whatWentOut])
        #expect(desk.isCurtainUp)
    }

    /// Before the first picture there is nothing to take back.
    @Test func theStartTakesNothingBack() throws {
        let desk = desk()
        desk.raiseByItself(.start, reason: "no picture")
        #expect(effects.calls.first == .whatWentOut)
        desk.lower(reason: "a picture", opening: .seconds(1)) { $0.awaitsAPicture }
        #expect(!desk.isCurtainUp && desk.curtain.openingTime == .seconds(1))
    }

    @Test func theConfigurationSaysHowMuchIsTakenBack() throws {
        let some = desk(.init(takeBackNewerThan: .seconds(4)))
        try some.raise(Self.app, reason: "")
        #expect(effects.calls.first == .takeBack(newerThan: .seconds(4), isUp: true))
        let nothing = desk(.init(off: [.takeBack], takeBackNewerThan: .seconds(4)))
        try nothing.raise(Self.app, reason: "")
        #expect(effects.calls.first == .takeBack(newerThan: .zero, isUp: true))
    }

    @Test func aCurtainThatIsOffIsRefusedAndNotPretended() throws {
        let desk = desk(.init(off: [.curtain]))
        let refusal = #expect(throws: CommandRefusal.self) { try desk.raise(Self.app, reason: "") }
        #expect(refusal?.code == .turnedOff)
        desk.raiseByItself(.badRegions, reason: "")
        #expect(effects.calls.isEmpty && !desk.isCurtainUp)
    }

    @Test func theDaemonsOwnRaisingHasASwitch() {
        let desk = desk(.init(off: [.automaticCurtain]))
        desk.raiseByItself(.badRegions, reason: "")
        #expect(effects.calls.isEmpty && !desk.isCurtainUp)
    }

    // MARK: Switches

    @Test(arguments: Protection.allCases)
    func whatIsInUseStaysOnWithoutForce(protection: Protection) throws {
        let desk = desk()
        switch protection {
        case .secureRegions: effects.clientHidesRegions = true
        case .standingRegions: try desk.hide(region("r", of: Self.app))
        case .curtain, .takeBack: try desk.raise(Self.app, reason: "")
        case .automaticCurtain: desk.raiseByItself(.vanished, reason: "")
        case .captureState: _ = desk.consult(Self.app, .any, by: .daemon)
        }
        effects.watch(desk)
        let refusal = #expect(throws: CommandRefusal.self) { try desk.turn(protection, on: false) }
        #expect(refusal?.code == .isInUse)
        #expect(desk.protections.isOn(protection) && effects.calls.isEmpty)
        #expect(try desk.turn(protection, on: false, force: true))
        #expect(!desk.protections.isOn(protection))
        #expect(effects.facts.first == .protectionTurned(protection, isOn: false, isForced: true))
        #expect(try !desk.turn(protection, on: false), "it is off already")
    }

    @Test func aCurtainThatIsForcedOffFalls() throws {
        let desk = desk()
        try desk.raise(Self.app, reason: "")
        try desk.turn(.curtain, on: false, force: true)
        #expect(!desk.isCurtainUp)
        #expect(effects.facts.last?.auditLines.map(\.event) == ["curtain_lowered"])
    }

    // MARK: Regions

    @Test func aRegionIsInForceBeforeAnybodyIsTold() throws {
        let desk = desk()
        let hidden = region("balance", of: Self.app)
        try desk.hide(hidden, reason: "money")
        #expect(
            effects.calls == [
                .regionsChanged(to: desk.regions.version),
                .report(.regionHidden(hidden, isNew: true, reason: "money")),
            ])
        effects.watch(desk)
        try desk.hide(hidden)
        #expect(effects.calls.isEmpty, "it is where it was")
        try desk.show(nil, of: "app:bank") { $0 == Self.app }
        #expect(effects.calls.first == .regionsChanged(to: nil))
        #expect(effects.facts.last?.auditLines.map(\.event) == ["region_shown"])
        let refusal = #expect(throws: CommandRefusal.self) { try desk.show(nil, of: "app:bank") { $0 == Self.app } }
        #expect(refusal?.code == .notFound)
    }

    // MARK: Asking

    /// The capture waits for an app that is asked; what the app does counts as its answer.
    @Test func aCaptureWaitsForTheAnswer() throws {
        let desk = desk()
        _ = desk.consult(Self.app, .any, by: .daemon)
        desk.captureBegins(source: "screen", client: "test")
        #expect(desk.curtain.all.map(\.holder) == [.consulting])
        #expect(desk.captureState.waitingFor == ["app:bank"] && desk.captureState.isCaptured)
        try desk.hide(region("r", of: Self.app))
        #expect(!desk.isCurtainUp)
        #expect(effects.facts.contains(.consultationAnswered(Self.app, .hidRegion)))
        desk.captureEnds()
        #expect(!desk.captureState.isCaptured)
    }

    // MARK: Across a restart

    @Test func theNextDaemonHoldsWhatThisOneHeld() throws {
        let folder = try TemporaryDirectory("desk")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        let first = desk(stateFile: file)
        try first.startKeeping()
        try first.raise(Self.app, reason: "balance")
        try first.hide(region("r", of: Self.other))
        try first.turn(.takeBack, on: false, force: true)
        first.raiseByItself(.vanished, reason: "ends with the daemon")
        let isWritten = try #require(first.keepState())
        #expect(try waitFor("the state file") { isWritten() })
        first.stop()
        let second = PrivacyDesk(.init(), stateFile: file, clock: clock, effects: effects)
        #expect(second.curtain.all.map(\.holder) == [Self.app])
        #expect(second.regions.all.map(\.name) == ["r"])
        #expect(!second.protections.isOn(.takeBack))
        guard case .protectionRestored(.takeBack, isOn: false)? = effects.facts.last else {
            Issue.record("not told: \(effects.facts)")
            return
        }
    }

    /// What cannot be read may have been a curtain.
    @Test func anUnreadableFileRaisesTheCurtain() throws {
        let folder = try TemporaryDirectory("desk")
        _ = try folder.write("nonsense", to: "state.json")
        let desk = PrivacyDesk(
            .init(), stateFile: try PrivacyStateFile(path: folder.file("state.json")), clock: clock, effects: effects)
        #expect(desk.curtain.all.map(\.holder) == [.stateUnreadable])
        guard case .stateUnreadable? = effects.facts.first else {
            Issue.record("not told: \(effects.facts)")
            return
        }
    }
}

@Suite struct CurtainReceiptTests {
    /// What a destination has been sent already is not "kept": it is gone.
    @Test(arguments: [
        (MediaTime?.none, MediaTime?.none, Int?.none), (.seconds(3), .seconds(2), 3000), (.seconds(3), nil, 3000),
        (.seconds(3), .seconds(3), nil), (.milliseconds(-1), nil, nil),
    ])
    func whatStillGoesOut(kept: MediaTime?, sent: MediaTime?, expected: Int?) {
        #expect(CurtainReceipt([("main", sent)], kept: kept).keptUntil == expected)
    }
}
