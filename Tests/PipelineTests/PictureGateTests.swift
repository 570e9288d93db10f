import MediaCore
import Privacy
import Testing

@testable import Pipeline

/// What becomes of a client's picture, for every state of the curtain, the operator and the client.
@Suite struct PictureGateTests {
    private static let now = MediaTime.seconds(100)

    @Test(arguments: [
        (Curtain.Prospect.shown, false, PictureGate.Verdict.show), (.shown, true, .show), (.kept, true, .keep),
        (.hidden, true, .hide),
    ])
    func theCurtainDecides(prospect: Curtain.Prospect, isUp: Bool, verdict: PictureGate.Verdict) {
        var gate = PictureGate()
        #expect(gate.admit(prospect, isUp: isUp, isPaused: false, at: Self.now) == verdict)
        #expect(gate.hasMissedPicture == (verdict == .hide))
        #expect(gate.admit(prospect, isUp: isUp, isPaused: true, at: Self.now) == .pause)
        #expect(gate.hasMissedPicture)
    }

    /// A client whose regions were not understood shows nothing for a second, even if nobody else holds the curtain.
    @Test func aRefusedPictureHoldsOthersBack() {
        var gate = PictureGate()
        gate.refuse(at: Self.now)
        #expect(gate.hasMissedPicture)
        let end = Self.now + PictureGate.leastHold
        for late in [MediaTime.zero, .milliseconds(999)] {
            #expect(gate.admit(.shown, isUp: true, isPaused: false, at: Self.now + late) == .keep)
            #expect(gate.holdEnds(isUp: true, at: Self.now + late) == end)
        }
        #expect(gate.admit(.hidden, isUp: true, isPaused: false, at: Self.now) == .hide)
        #expect(gate.admit(.shown, isUp: true, isPaused: false, at: end) == .show)
        #expect(gate.holdEnds(isUp: true, at: end) == nil)
        // Another one: from its time on.
        gate.refuse(at: end)
        #expect(gate.verdict(.shown, isUp: true, isPaused: false, at: end) == .keep)
    }

    /// An operator who lets go for everybody shows what comes.
    @Test func aCurtainThatIsDownHoldsNothingBack() {
        var gate = PictureGate()
        gate.refuse(at: Self.now)
        #expect(gate.admit(.shown, isUp: false, isPaused: false, at: Self.now) == .show)
        #expect(gate.holdEnds(isUp: false, at: Self.now) == nil)
    }

    /// "It looks as the last one" can be said again once a picture has gone through.
    @Test func whatWasMissedIsForgottenWithTheNextPicture() {
        var gate = PictureGate()
        gate.miss()
        #expect(gate.hasMissedPicture)
        #expect(gate.verdict(.kept, isUp: true, isPaused: false, at: Self.now) == .keep)
        #expect(gate.hasMissedPicture, "a look changes nothing")
        _ = gate.admit(.kept, isUp: true, isPaused: false, at: Self.now)
        #expect(!gate.hasMissedPicture)
    }
}
