import MediaCore
import Privacy
import Testing

@Suite struct ProtectionTests {
    @Test func eachHasItsOwnSwitch() {
        let protections = Protections(off: [.takeBack])
        for protection in Protection.allCases { #expect(protections.isOn(protection) == (protection != .takeBack)) }
        #expect(protections.set(.curtain, on: false))
        #expect(!protections.set(.curtain, on: false))
        #expect(protections.set(.takeBack, on: true))
        for protection in Protection.allCases { #expect(protections.isOn(protection) == (protection != .curtain)) }
    }

    @Test func regionsThatAreOffAreKept() {
        let standing = StandingRegions(isOn: false)
        let region = StandingRegion(
            holder: PrivacyHolder(.app, "kiosk", user: 1000), name: "a",
            edges: RectEdges(left: 0, top: 0, right: 0.5, bottom: 0.5), unit: .normalized)
        #expect(standing.set(region) == .added)
        func hidden() -> SecureRegions {
            var regions = SecureRegions()
            standing.hide(in: &regions, width: 100, height: 100, transform: .identity)
            return regions
        }
        #expect(hidden().isEmpty)
        let version = standing.version
        standing.turn(on: true)
        #expect(!hidden().isEmpty && standing.version != version)
        // Another user's app of the same name has nothing there.
        let other = PrivacyHolder(.app, "kiosk", user: 1001)
        #expect(standing.remove(nil, of: { $0 == other }) == 0)
        #expect(standing.remove("a", of: { $0 == region.holder }) == 1)
    }

    /// Promise: what is taken hides at least a sample of some picture.
    @Test(arguments: StandingRegion.Unit.allCases) func whatHidesNothingIsKnown(unit: StandingRegion.Unit) {
        let size = unit == .normalized ? 1 : StandingRegion.largestPicture
        let small = size / 4096
        func why(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> String? {
            StandingRegion(
                holder: PrivacyHolder(.operator), name: "a",
                edges: RectEdges(left: left, top: top, right: right, bottom: bottom), unit: unit
            ).whyItHidesNothing
        }
        #expect(why(0, 0, 0, size)?.hasPrefix("width") == true)
        #expect(why(0, 0, size, 0)?.hasPrefix("height") == true)
        for (left, right) in [(-2 * size, 0.0), (size, 2 * size)] {
            #expect(why(left, 0, right, size)?.contains("outside") == true)
            #expect(why(0, left, size, right)?.contains("outside") == true)
        }
        #expect(why(-size, -size, small, small) == nil)
        #expect(why(size - small, size - small, 2 * size, 2 * size) == nil)
        #expect(why(0, 0, small / 1000, small / 1000) == nil)
    }

    @Test func oneUsersAppsLeaveRoomForRegionsOfOthers() {
        let standing = StandingRegions()
        func set(_ holder: PrivacyHolder, _ count: Int) -> Int {
            (0..<count).count { number in
                let edges = RectEdges(left: 0, top: 0, right: 0.5, bottom: 0.5)
                return standing.set(
                    StandingRegion(holder: holder, name: "r\(number)", edges: edges, unit: .normalized)) == .added
            }
        }
        #expect(set(PrivacyHolder(.app, "a", user: 1), 20) == 20)
        #expect(set(PrivacyHolder(.app, "b", user: 1), 20) == 12)
        #expect(set(PrivacyHolder(.app, "a", user: 2), 20) == 16)
        #expect(set(PrivacyHolder(.app, "a", user: 3), 20) == 0)
        #expect(set(PrivacyHolder(.operator), 64) == 16)
    }

    /// What awaits a picture lets go with the first that may be shown, and sound begins with it; nobody else does.
    @Test func whoAwaitsAPictureLetsGoWithIt() {
        let curtain = Curtain()
        #expect(curtain.prospect == .shown && curtain.objections == 0)
        #expect(curtain.raise(.start, reason: "", at: .zero) == .raised)
        #expect(curtain.prospect == .shown && curtain.objections == 0)
        let app = PrivacyHolder(.app, "kiosk")
        #expect(curtain.raise(app, reason: "", at: .zero) == .held)
        #expect(curtain.prospect == .hidden && curtain.objections == 1)
        #expect(curtain.release(opening: .seconds(1), where: \.awaitsAPicture) == .released)
        #expect(curtain.stamp.isUp)
        #expect(curtain.lower(app) == .lowered)
        #expect(curtain.openingTime == nil)
        #expect(curtain.raise(.badRegions, reason: "", at: .zero) == .raised)
        #expect(curtain.release(opening: .seconds(2), where: \.awaitsAPicture) == .lowered)
        #expect(curtain.openingTime == .seconds(2))
    }
}
