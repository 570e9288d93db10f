import MediaCore
import Privacy
import Testing

/// Promise: the curtain is up for as long as anybody holds it up, and no stamp from before is ever valid again.
@Suite struct CurtainHolderTests {
    private let app = PrivacyHolder(.app, "kiosk")
    private let operator_ = PrivacyHolder(.operator)

    @Test func theLastWhoLetsGoLowersIt() {
        let curtain = Curtain()
        let before = curtain.stamp
        #expect(!before.isUp)
        #expect(curtain.raise(app, reason: "a", at: .zero) == .raised)
        #expect(curtain.raise(operator_, reason: "b", at: .seconds(1)) == .held)
        #expect(curtain.raise(app, reason: "again", at: .seconds(2)) == .none)
        #expect(curtain.stamp.isUp && curtain.stamp.epoch == 1)
        #expect(curtain.all.map(\.reason) == ["a", "b"])
        #expect(curtain.lower(app) == .released)
        #expect(curtain.lower(app) == .none)
        #expect(curtain.stamp.isUp)
        #expect(curtain.lower(operator_) == .lowered)
        #expect(!curtain.stamp.isUp && curtain.stamp != before && curtain.stamp.epoch == 1)
        #expect(curtain.raise(app, reason: "", at: .zero) == .raised)
        #expect(curtain.stamp.epoch == 2)
    }

    @Test func forcedDown() {
        let curtain = Curtain()
        _ = curtain.raise(app, reason: "", at: .zero)
        _ = curtain.raise(operator_, reason: "", at: .zero)
        #expect(curtain.release { _ in true } == .lowered)
        #expect(curtain.release { _ in true } == .none)
    }

    /// Whoever finds no room is not forgotten: it stays up until an operator says otherwise.
    @Test func thereIsRoomForSixtyFourApps() {
        let curtain = Curtain()
        func holder(_ number: UInt32) -> PrivacyHolder { PrivacyHolder(.app, "a\(number)", user: number % 10) }
        for number in 0..<100 { _ = curtain.raise(holder(UInt32(number)), reason: "", at: .zero) }
        #expect(curtain.all.count == 65)
        #expect(curtain.all.last?.reason == "more than 64 hold it up")
        // Who holds it already needs no room, and who is no app finds it.
        #expect(curtain.raise(holder(0), reason: "", at: .zero) == .none)
        #expect(curtain.raise(operator_, reason: "", at: .zero) == .held)
        #expect(curtain.lower(operator_) == .released)
        for number in 0..<100 { _ = curtain.lower(holder(UInt32(number))) }
        #expect(curtain.stamp.isUp && curtain.all.map(\.holder) == [Curtain.tooMany])
        #expect(!Curtain.tooMany.isAutomatic)
        #expect(curtain.lower(Curtain.tooMany) == .lowered)
    }

    /// One user's apps leave room for those of others.
    @Test func oneUserDoesNotTakeAllRoom() {
        let curtain = Curtain()
        for number in 0..<40 { _ = curtain.raise(PrivacyHolder(.app, "a\(number)", user: 1), reason: "", at: .zero) }
        #expect(curtain.all.count == 17)
        #expect(curtain.all.last?.holder == Curtain.tooMany)
        #expect(curtain.all.last?.reason == "more than 16 apps of user 1 hold it up")
        #expect(curtain.isHeld(by: PrivacyHolder(.app, "a15", user: 1)))
        #expect(!curtain.isHeld(by: PrivacyHolder(.app, "a16", user: 1)))
        let other = PrivacyHolder(.app, "a0", user: 2)
        #expect(curtain.raise(other, reason: "", at: .zero) == .held)
        #expect(curtain.all.last?.holder == other)
    }

    @Test(arguments: [("kiosk", true), ("com.example/a-b_c", true), ("", false), ("a b", false), ("ä", false)])
    func names(text: String, isOne: Bool) {
        #expect(PrivacyHolder.isName(text) == isOne)
        #expect(!PrivacyHolder.isName(String(repeating: "a", count: 65)))
    }
}
