import MediaCore
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: a mark that a zoom has moved or scaled, however little, does not pass for the mark in its place.
@Suite struct ReferenceMarkTests {
    private static let (width, height) = (64, 48)
    private static let area = CaptureRectangle(x: 100, y: 200, width: width, height: height)

    /// A screen of one brightness with marks in its corners, in the second of four bytes.
    private static func screen(_ background: UInt8 = 255, grey: UInt8 = 63) -> [UInt8] {
        var picture = [UInt8](repeating: background, count: width * height * 4)
        for place in ReferenceMark.places(in: area) {
            for row in 0..<ReferenceMark.side {
                for column in 0..<ReferenceMark.side {
                    let (x, y) = (place.x - area.x + column, place.y - area.y + row)
                    let isGrey = ReferenceMark.isGrey[row * ReferenceMark.side + column]
                    picture[(y * width + x) * 4 + 1] = isGrey ? grey : 0
                }
            }
        }
        return picture
    }

    /// Which of the marks a picture shows in their places.
    private static func shown(_ picture: [UInt8]) -> [Bool] {
        ReferenceMark.places(in: area).map { place in
            unsafe picture.withUnsafeBytes {
                unsafe ReferenceMark.isShown(
                    x: place.x - area.x, y: place.y - area.y, in: $0, width: width, green: 1)
            }
        }
    }

    /// The picture as a zoom shows it around a point that stays in place.
    private static func zoomed(_ picture: [UInt8], by zoom: Double, x: Double, y: Double, isSmooth: Bool) -> [UInt8] {
        var result = picture
        func value(_ column: Int, _ row: Int) -> Double {
            Double(picture[(min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)) * 4 + 1])
        }
        for row in 0..<height {
            for column in 0..<width {
                let sourceX = x + (Double(column) + 0.5 - x) / zoom
                let sourceY = y + (Double(row) + 0.5 - y) / zoom
                var mixed = value(Int(sourceX.rounded(.down)), Int(sourceY.rounded(.down)))
                if isSmooth {
                    let (left, top) = ((sourceX - 0.5).rounded(.down), (sourceY - 0.5).rounded(.down))
                    let (right, below) = (sourceX - 0.5 - left, sourceY - 0.5 - top)
                    let (c, r) = (Int(left), Int(top))
                    mixed =
                        (value(c, r) * (1 - right) + value(c + 1, r) * right) * (1 - below)
                        + (value(c, r + 1) * (1 - right) + value(c + 1, r + 1) * right) * below
                }
                result[(row * width + column) * 4 + 1] = UInt8(mixed.rounded())
            }
        }
        return result
    }

    @Test func marksAreSeenInTheirPlaces() {
        #expect(Self.shown(Self.screen()) == [true, true])
        #expect(Self.shown(Self.screen(0)) == [true, true])
        #expect(Self.shown(Self.screen(grey: 24)) == [true, true], "translucent")
        #expect(Self.shown(Self.screen(grey: 23)) == [false, false])
        #expect(Self.shown(Self.screen().map { 255 - $0 }) == [true, true], "inverted")
        #expect(Self.shown([UInt8](repeating: 0, count: Self.width * Self.height * 4)) == [false, false])
    }

    /// The first step of xfwm4 is 16/15. Wherever the pointer is, no more than one mark stays.
    @Test(arguments: [true, false], [1.02, 16.0 / 15, 1.2, 2, 16])
    func aZoom(isSmooth: Bool, zoom: Double) {
        let screen = Self.screen()
        for x in stride(from: 0, through: Double(Self.width), by: 4) {
            for y in stride(from: 0, through: Double(Self.height), by: 4) {
                let shown = Self.shown(Self.zoomed(screen, by: zoom, x: x, y: y, isSmooth: isSmooth))
                #expect(shown != [true, true], "around \(x), \(y)")
                if zoom > 1.1 { #expect(shown == [false, false], "around \(x), \(y)") }
            }
        }
    }

    @Test func aPictureThatHasMoved() {
        let screen = Self.screen()
        for (x, y) in [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (2, 0), (0, 2), (3, 5), (-4, 7)] {
            var moved = screen
            for row in 0..<Self.height {
                for column in 0..<Self.width {
                    let (from, line) = (column + x, row + y)
                    let isInside = 0..<Self.width ~= from && 0..<Self.height ~= line
                    moved[(row * Self.width + column) * 4 + 1] =
                        isInside ? screen[(line * Self.width + from) * 4 + 1] : 0
                }
            }
            #expect(Self.shown(moved) == [false, false], "by \(x), \(y)")
        }
    }
}

/// Promise: marks are above all windows where and while they are needed, without a fight; pictures without them are not
/// believed.
@Suite struct MarkWatchTests {
    private static let area = CaptureRectangle(x: 0, y: 0, width: 100, height: 100)
    private static let places = ReferenceMark.places(in: area)
    private static let show = MarkWatch.Action.show(places)
    private static let renew = MarkWatch.Action.replace(places)

    private static func action(
        _ watch: inout MarkWatch, in area: CaptureRectangle? = area, isNeeded: Bool = true, displaced: [UInt32] = [],
        now: MediaTime = .zero
    ) -> MarkWatch.Action? {
        watch.action(in: area, isNeeded: isNeeded, isDisplaced: { displaced.contains($0.window) }, now: now)
    }

    /// Marks are windows 1 and 2.
    private static func shown() -> MarkWatch {
        var watch = MarkWatch()
        let action = Self.action(&watch)
        #expect(action == show)
        watch.shown(by: [1, 2], at: places)
        return watch
    }

    @Test func marksFollowTheArea() {
        var watch = MarkWatch()
        let before = [Self.action(&watch, isNeeded: false), Self.action(&watch, in: nil)]
        #expect(before == [nil, nil])
        watch = Self.shown()
        #expect(watch.marks == [.init(window: 1, place: Self.places[0]), .init(window: 2, place: Self.places[1])])
        let same = Self.action(&watch)
        #expect(same == nil)
        let other = CaptureRectangle(x: 50, y: 0, width: 50, height: 100)
        let moved = Self.action(&watch, in: other)
        #expect(moved == .show(ReferenceMark.places(in: other)))
        let end = Self.action(&watch, in: nil)
        #expect(end == .hide && watch.marks.isEmpty)
        let after = Self.action(&watch, in: nil)
        #expect(after == nil)
    }

    @Test func marksStayForAWhile() {
        var watch = Self.shown()
        let (last, end) = (MarkWatch.rest - .milliseconds(1), MarkWatch.rest)
        let stay = Self.action(&watch, isNeeded: false, now: last)
        #expect(watch.due == end)
        let actions = [stay, Self.action(&watch, isNeeded: false, now: end)]
        #expect(actions == [nil, .hide])
        let needed = Self.shown()
        #expect(needed.due == nil)
    }

    @Test func aDisplacedMarkIsShownAgainAfterAPause() {
        var watch = Self.shown()
        let first = MarkWatch.firstPause
        let early = Self.action(&watch, displaced: [2], now: .milliseconds(1))
        #expect(early == nil && watch.due == first)
        let raised = Self.action(&watch, displaced: [2], now: first)
        #expect(raised == Self.show && watch.due == nil)
        // It was raised, but the event has not come yet.
        let again = Self.action(&watch, displaced: [2], now: first)
        #expect(again == nil && watch.due == first + first + first, "twice as long")
        let visible = Self.action(&watch, now: first)
        #expect(visible == nil && watch.due == nil)
        // A program that keeps its window above all others.
        var times: [MediaTime] = []
        for _ in 0..<6 {
            _ = Self.action(&watch, displaced: [2], now: times.last ?? first)
            times.append(watch.due ?? .zero)
            let action = Self.action(&watch, displaced: [2], now: times[times.count - 1])
            #expect(action == Self.show)
        }
        #expect(times[5] - times[4] == MarkWatch.longestDelay)
        let later = times[5] + MarkWatch.longestDelay + MarkWatch.longestDelay + .milliseconds(1)
        let calm = [Self.action(&watch, displaced: [1], now: later), Self.action(&watch, displaced: [1], now: later)]
        #expect(calm == [Self.show, nil] && watch.due == later + first)
    }

    /// Some managers paint a mark below a window that it is above.
    @Test func missingMarksAreRestored() {
        var watch = Self.shown()
        func look(_ now: MediaTime, isShown: Bool = false) -> MarkWatch.Action? {
            _ = watch.believes(isShown: { _ in isShown }, now: now)
            return Self.action(&watch, now: now)
        }
        let (first, longest) = (MarkWatch.firstDelay, MarkWatch.longestDelay)
        var actions = [look(.zero)]
        #expect(watch.due == first)
        actions += [look(first - .milliseconds(1)), look(first)]
        #expect(actions == [nil, nil, Self.renew])
        #expect(watch.due == first + first + first, "twice as long")
        var times: [MediaTime] = []
        for _ in 0..<4 {
            let due = watch.due ?? .zero
            times.append(due)
            let restored = look(due)
            #expect(restored == Self.renew)
        }
        #expect(times[3] - times[2] == longest && watch.due == times[3] + longest)
        let shown = look(times[3], isShown: true)
        #expect(shown == nil && watch.due == nil)
        let missing = look(times[3])
        #expect(missing == nil && watch.due == times[3] + first)
    }

    @Test(arguments: [[1, 2], [1], [2], []] as [[UInt32]])
    func pictures(shown: [UInt32]) {
        var watch = Self.shown()
        func isBelieved(now: MediaTime) -> Bool {
            watch.believes(isShown: { shown.contains($0.window) }, now: now)
        }
        let isWhole = shown == [1, 2]
        let believed = [isBelieved(now: .zero), isBelieved(now: .seconds(1))]
        #expect(believed == [isWhole, isWhole])
        #expect(!watch.isMissing(now: .seconds(1)))
        #expect(watch.isMissing(now: MarkWatch.patience) == !isWhole)
        watch.skip()
        #expect(!watch.isMissing(now: MarkWatch.patience))
    }

    @Test func nothingIsBelievedWithoutMarks() {
        var watch = MarkWatch()
        let isBelieved = watch.believes(isShown: { _ in true }, now: .zero)
        #expect(!isBelieved)
    }
}
