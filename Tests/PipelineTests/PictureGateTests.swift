import MediaCore
import Privacy
import Testing

@testable import Pipeline

/// The verdict on a client's picture, for every state of the curtain, the operator and the client.
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

    /// After a picture with invalid regions, no picture is shown for a second, even without other holders.
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
        // Another refusal restarts the second.
        gate.refuse(at: end)
        #expect(gate.verdict(.shown, isUp: true, isPaused: false, at: end) == .keep)
    }

    /// After an operator has released all holds, pictures are shown.
    @Test func aCurtainThatIsDownHoldsNothingBack() {
        var gate = PictureGate()
        gate.refuse(at: Self.now)
        #expect(gate.admit(.shown, isUp: false, isPaused: false, at: Self.now) == .show)
        #expect(gate.holdEnds(isUp: false, at: Self.now) == nil)
    }

    /// After a new picture, the client may report again that nothing has changed.
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
