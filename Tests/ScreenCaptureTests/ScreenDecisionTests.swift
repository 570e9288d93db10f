import Grabbing
import MediaCore
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: a screen is grabbed when it has changed, and no faster than the frame rate.
@Suite struct GrabScheduleTests {
    private static func time(_ milliseconds: Int64) -> MediaTime { .milliseconds(10_000 + milliseconds) }

    @Test func aStillScreenIsGrabbedOnce() {
        var schedule = GrabSchedule(FrameRate(25))
        #expect(schedule.due(now: Self.time(0)) == Self.time(0))
        schedule.grabbed(at: Self.time(0))
        #expect(schedule.due(now: Self.time(500)) == nil)
        schedule.noteChange()
        // The first change after a pause does not wait.
        #expect(schedule.due(now: Self.time(700)) == Self.time(700))
    }

    /// A grab that is late does not delay the next ones, however often the screen changes.
    @Test func aMovingScreenHasTheFrameRate() {
        var schedule = GrabSchedule(FrameRate(25))
        var grabs = 0
        for now in 0..<4_000 {
            schedule.noteChange()
            let at = Self.time(Int64(now))
            guard let due = schedule.due(now: at), due <= at else { continue }
            // Up to 7 ms late.
            schedule.grabbed(at: at + .milliseconds(Int64(now % 8)))
            grabs += 1
        }
        #expect(grabs == 100)
    }
}

/// Promise: a pointer that rests costs nothing, and one that moves no more than a question for each frame.
@Suite struct PointerLooksTests {
    private static func time(_ milliseconds: Int64) -> MediaTime { .milliseconds(10_000 + milliseconds) }
    private static func look(_ looks: inout PointerLooks, _ milliseconds: Int64) -> Bool {
        looks.looked(now: time(milliseconds))
    }

    /// Twice a second, whatever the frame rate is, but never faster than that.
    @Test(arguments: [(50, 500), (1, 1000)]) func aPointerThatRests(rate: Int, rest: Int64) {
        var looks = PointerLooks(FrameRate(rate), isReported: true)
        #expect(looks.due <= Self.time(0))
        for look in [0, rest] {
            #expect(!Self.look(&looks, look))
            looks.found(hasMoved: false)
            #expect(looks.due == Self.time(look + rest))
        }
    }

    /// No server tells of it: it is followed with the frame rate from when it is seen until it rests.
    @Test func aProgramThatMovesThePointer() {
        var looks = PointerLooks(FrameRate(50), isReported: true)
        for look in 0..<3 {
            #expect(!Self.look(&looks, Int64(look) * 20))
            looks.found(hasMoved: look < 2)
            #expect(looks.due == Self.time(look < 2 ? Int64(look) * 20 + 20 : 540))
        }
    }

    /// The first motion after a rest is looked at once, the next ones with the frame rate.
    @Test func aPointerThatMoves() {
        var looks = PointerLooks(FrameRate(50), isReported: true)
        let isNews = looks.noteMotion()
        #expect(isNews)
        #expect(looks.due <= Self.time(0))
        #expect(Self.look(&looks, 0))
        looks.found(hasMoved: false)
        let (first, second) = (looks.noteMotion(), looks.noteMotion())
        #expect(first && !second, "only the first one is news")
        #expect(looks.due == Self.time(20))
        #expect(Self.look(&looks, 25))
        looks.found(hasMoved: false)
        #expect(looks.due == Self.time(525))
    }

    @Test func aServerThatReportsNothing() {
        var looks = PointerLooks(FrameRate(50), isReported: false)
        #expect(!Self.look(&looks, 0))
        #expect(looks.due == Self.time(20))
    }
}

/// Promise: a pointer whose shape no server tells is an arrow that points at its place.
@Suite struct PointerArrowTests {
    @Test func itPointsAtItsPlace() {
        let arrow = PointerImage.arrow
        #expect(arrow.isVisible && !PointerImage.none.isVisible)
        #expect((arrow.width, arrow.height, arrow.hotX, arrow.hotY) == (12, 19, 0, 0))
        #expect(arrow.pixels.count == 12 * 19)
        let (width, height) = (40, 30)
        var picture = [UInt8](repeating: 128, count: width * height * 4)
        picture.withUnsafeMutableBytes {
            arrow.draw(into: $0, width: width, height: height, red: 2, blue: 0, x: 5, y: 7)
        }
        func luma(_ x: Int, _ y: Int) -> UInt8 { picture[(y * width + x) * 4 + 1] }
        #expect(luma(5, 7) == 255 && luma(6, 12) == 0, "white outline, black inside")
        #expect(luma(4, 7) == 128 && luma(5, 6) == 128 && luma(16, 7) == 128, "nothing beside it")
    }
}

/// Promise: the daemon learns of everything that may differ, and of nothing that does not.
@Suite struct DamageListTests {
    private static func rectangle(_ x: Int) -> CaptureRectangle { CaptureRectangle(x: x, y: 1, width: 2, height: 3) }

    @Test func theFirstFrameIsAllNew() {
        var list = DamageList()
        #expect(list.damage == nil && !list.isEmpty)
        list.note(Self.rectangle(1))
        #expect(list.damage == nil)
        list.clear()
        #expect(list.damage == CaptureDamage([]) && list.isEmpty)
    }

    @Test func rectanglesAddUpUntilAFrameIsSent() {
        var list = DamageList()
        list.clear()
        list.note(Self.rectangle(1))
        list.note(Self.rectangle(5))
        #expect(list.damage == CaptureDamage([Self.rectangle(1), Self.rectangle(5)]))
        for x in 0..<100 { list.note(Self.rectangle(x)) }
        #expect(list.damage == nil, "more than anybody looks at")
        list.clear()
        list.note(Self.rectangle(1))
        list.noteAll()
        #expect(list.damage == nil)
    }
}

/// Promise: what the options name is what is captured, or nothing is.
@Suite struct ScreenAreaTests {
    private static let monitors = [
        ScreenMonitor(name: "HDMI-1", area: .init(x: 0, y: 0, width: 1920, height: 1080), isPrimary: true),
        ScreenMonitor(name: "DP-2", area: .init(x: 1920, y: 120, width: 1280, height: 1024), isPrimary: false),
    ]

    private static func place(_ area: ScreenArea, width: Int = 3200, height: Int = 1144) throws -> CaptureRectangle {
        try area.place(width: width, height: height, monitors: monitors)
    }

    @Test func areas() throws {
        #expect(try Self.place(.display).name == "3200x1144+0+0")
        #expect(try Self.place(.monitor("DP-2")).name == "1280x1024+1920+120")
        #expect(try Self.place(.rectangle(.init(x: 10, y: 20, width: 640, height: 480))).name == "640x480+10+20")
        let outside = ScreenArea.rectangle(.init(x: 3000, y: 1000, width: 640, height: 480))
        #expect(try Self.place(outside).name == "200x144+3000+1000")
    }

    /// A monitor that is gone is never replaced by the whole desktop.
    @Test func whatIsNotThere() {
        func message(_ area: ScreenArea, width: Int = 3200, height: Int = 1144) -> String {
            do { _ = try Self.place(area, width: width, height: height) } catch { return "\(error)" }
            return ""
        }
        #expect(message(.monitor("VGA-1")) == "the display has no monitor VGA-1; it has HDMI-1, DP-2")
        #expect(message(.rectangle(.init(x: 4000, y: 0, width: 64, height: 64))).contains("outside of the display"))
        #expect(message(.rectangle(.init(x: 4000, y: 0, width: 64, height: 64))).contains("choose a part of it, as"))
        #expect(message(.rectangle(.init(x: 0, y: 0, width: 8, height: 64))).contains("sides are 16 to 4096"))
        #expect(
            message(.rectangle(.init(x: 0, y: 0, width: 5000, height: 64)), width: 5000)
                .hasSuffix("choose a monitor with --monitor, or a part with --area"))
        #expect(message(.monitor("DP-2"), width: 1920, height: 1080).contains("outside of the display"))
    }

    /// Without a choice, the primary monitor of a desktop that no frame has room for.
    @Test(arguments: [(7680, 2160), (4096, 4097)]) func aDesktopThatIsTooLarge(width: Int, height: Int) throws {
        #expect(try Self.place(.display, width: width, height: height).name == "1920x1080+0+0")
        func hint(_ area: ScreenArea, _ monitors: [ScreenMonitor] = Self.monitors) -> String? {
            area.hint(width: width, height: height, monitors: monitors)
        }
        let text = "only the monitor HDMI-1 is captured; --monitor chooses another one: DP-2"
        #expect(hint(.display)?.hasSuffix(text) == true)
        #expect(hint(.monitor("HDMI-1")) == nil && hint(.display, []) == nil)
        #expect(ScreenArea.display.hint(width: 4096, height: 4096, monitors: Self.monitors) == nil)
        let wall = ScreenMonitor(name: "W", area: .init(x: 0, y: 0, width: width, height: height), isPrimary: true)
        let other = try ScreenArea.display.place(width: width, height: height, monitors: [wall, Self.monitors[1]])
        #expect(other.x == 1920)
        let error = try #require(throws: ScreenError.self) {
            try ScreenArea.display.place(width: width, height: height, monitors: [wall])
        }
        #expect("\(error)".hasSuffix("pixels; choose a part with --area"))
    }

    @Test func intersections() {
        let a = CaptureRectangle(x: 10, y: 10, width: 10, height: 10)
        #expect(a.intersection(.init(x: 15, y: 5, width: 10, height: 10)) == .init(x: 15, y: 10, width: 5, height: 5))
        #expect(a.intersection(.init(x: 20, y: 10, width: 10, height: 10)) == nil)
        #expect(a.relative(to: .init(x: 4, y: 6, width: 0, height: 0)) == .init(x: 6, y: 4, width: 10, height: 10))
    }
}

/// Promise: the pixels of every display that is not a museum's arrive with their colours.
@Suite struct ScreenFormatTests {
    private static func format(
        _ bits: Int, _ red: UInt32, _ green: UInt32, _ blue: UInt32, isLittleEndian: Bool = true
    ) throws -> ScreenFormat {
        try ScreenFormat(
            bitsPerPixel: bits, masks: .init(red: red, green: green, blue: blue), isTrueColor: true,
            isLittleEndian: isLittleEndian)
    }

    @Test func directFormats() throws {
        #expect(try Self.format(32, 0xff0000, 0xff00, 0xff).pixelFormat == .bgra)
        #expect(try Self.format(32, 0xff0000, 0xff00, 0xff, isLittleEndian: false).pixelFormat == .argb)
        #expect(try Self.format(32, 0xff, 0xff00, 0xff0000).pixelFormat == .rgba)
        #expect(try Self.format(32, 0xff, 0xff00, 0xff0000, isLittleEndian: false).pixelFormat == .abgr)
        #expect(try Self.format(32, 0xff0000, 0xff00, 0xff).conversion == nil)
    }

    private static func converted(_ bytes: [UInt8], _ format: ScreenFormat, stride: Int, width: Int) throws -> [UInt8] {
        let conversion = try #require(format.conversion)
        var target = [UInt8](repeating: 7, count: width * 4)
        bytes.withUnsafeBytes { source in
            target.withUnsafeMutableBytes {
                conversion.convert(source, stride: stride, width: width, height: 1, to: $0)
            }
        }
        return target
    }

    /// 10 bits: 1023 red, 512 green, 0 blue; then white.
    @Test func thirtyBits() throws {
        let format = try Self.format(32, 0x3ff0_0000, 0xf_fc00, 0x3ff)
        let words: [UInt32] = [1023 << 20 | 512 << 10, 0x3fff_ffff]
        let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        #expect(try Self.converted(bytes, format, stride: 8, width: 2) == [0, 128, 255, 255, 255, 255, 255, 255])
    }

    /// 565: red, green, blue, in both orders of bytes.
    @Test(arguments: [true, false]) func sixteenBits(isLittleEndian: Bool) throws {
        let format = try Self.format(16, 0xf800, 0x7e0, 0x1f, isLittleEndian: isLittleEndian)
        let words: [UInt16] = [0xf800, 0x7e0, 0x1f]
        let bytes = words.flatMap { word in
            let word = isLittleEndian ? word.littleEndian : word.bigEndian
            return withUnsafeBytes(of: word) { Array($0) }
        }
        #expect(
            try Self.converted(bytes + [0, 0], format, stride: 8, width: 3)
                == [0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255])
    }

    @Test func palettesAreRefused() {
        #expect(throws: ScreenError.self) { try Self.format(8, 0, 0, 0) }
        #expect(throws: ScreenError.self) {
            try ScreenFormat(
                bitsPerPixel: 32, masks: .init(red: 1, green: 2, blue: 4), isTrueColor: false, isLittleEndian: true)
        }
    }
}

/// Promise: the pointer is drawn where it points, with soft edges, and never outside of the picture.
@Suite struct PointerImageTests {
    /// 3x2: opaque red, half-transparent white (premultiplied), nothing; hot at the second pixel.
    private static let image = PointerImage(
        pixels: [0xffff_0000, 0x8080_8080, 0, 0xff00_00ff, 0, 0], width: 3, height: 2, hotX: 1, hotY: 0)

    private static func drawn(x: Int, y: Int, red: Int = 2, blue: Int = 0) -> [UInt8] {
        var picture = [UInt8](repeating: 100, count: 4 * 4 * 4)
        picture.withUnsafeMutableBytes {
            image.draw(into: $0, width: 4, height: 4, red: red, blue: blue, x: x, y: y)
        }
        return picture
    }

    @Test func itIsBlended() {
        let picture = Self.drawn(x: 2, y: 1)
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(picture[(y * 4 + x) * 4..<(y * 4 + x) * 4 + 3]) }
        #expect(pixel(1, 1) == [0, 0, 255])
        #expect(pixel(2, 1) == [178, 178, 178])
        #expect(pixel(3, 1) == [100, 100, 100])
        #expect(pixel(1, 2) == [255, 0, 0])
        #expect(picture.indices.filter { picture[$0] != 100 }.count == 9)
    }

    @Test func argb() {
        let picture = Self.drawn(x: 1, y: 0, red: 1, blue: 3)
        #expect(Array(picture[0..<4]) == [100, 255, 0, 0])
    }

    @Test(arguments: [(0, 0), (-1, 3), (4, 4), (-100, -100), (5, 3), (1, -1)]) func atTheEdges(x: Int, y: Int) {
        let area = Self.image.area(x: x, y: y)
        #expect(area == .init(x: x - 1, y: y, width: 3, height: 2))
        let picture = Self.drawn(x: x, y: y)
        let changed = picture.indices.filter { picture[$0] != 100 }.map { ($0 / 4 % 4, $0 / 16) }
        #expect(changed.allSatisfy { $0.0 >= area.x && $0.0 < area.x + 3 && $0.1 >= area.y && $0.1 < area.y + 2 })
    }
}
