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
    @Test func thereIsRoomForSixtyFour() {
        let curtain = Curtain()
        for number in 0..<100 { _ = curtain.raise(PrivacyHolder(.app, "a\(number)"), reason: "", at: .zero) }
        #expect(curtain.all.count == 65)
        for number in 0..<100 { _ = curtain.lower(PrivacyHolder(.app, "a\(number)")) }
        #expect(curtain.stamp.isUp && curtain.all.map(\.holder) == [Curtain.tooMany])
        #expect(curtain.lower(Curtain.tooMany) == .lowered)
    }

    @Test(arguments: [("kiosk", true), ("com.example/a-b_c", true), ("", false), ("a b", false), ("ä", false)])
    func names(text: String, isOne: Bool) {
        #expect(PrivacyHolder.isName(text) == isOne)
        #expect(!PrivacyHolder.isName(String(repeating: "a", count: 65)))
    }
}
