import Grabbing
import MediaCore
import Testing
import UpcastClient

@testable import WaylandCapture

/// Promise: pictures of turned outputs are tagged so that viewers see them as the user does.
@Suite struct OutputTransformTests {
    /// What the compositor stores of a picture of two by two pixels, 0 1 over 2 3, for each transform (wl_output: the
    /// contents are turned counter-clockwise, after they are flipped around the vertical axis).
    private static func stored(_ transform: OutputTransform) -> [[Int]] {
        var picture = [[0, 1], [2, 3]]
        if transform.rawValue >= 4 { picture = picture.map { $0.reversed() } }
        for _ in 0..<transform.rawValue % 4 {
            picture = [[picture[0][1], picture[1][1]], [picture[0][0], picture[1][0]]]
        }
        return picture
    }

    /// Turns a stored picture upright, as the daemon does for a tag (EXIF: where the first row and column are seen).
    private static func upright(_ p: [[Int]], _ orientation: CaptureOrientation) -> [[Int]] {
        switch orientation {
        case .up: p
        case .upMirrored: p.map { $0.reversed() }
        case .down: [[p[1][1], p[1][0]], [p[0][1], p[0][0]]]
        case .downMirrored: p.reversed()
        case .leftMirrored: [[p[0][0], p[1][0]], [p[0][1], p[1][1]]]
        case .right: [[p[1][0], p[0][0]], [p[1][1], p[0][1]]]
        case .rightMirrored: [[p[1][1], p[0][1]], [p[1][0], p[0][0]]]
        case .left: [[p[0][1], p[1][1]], [p[0][0], p[1][0]]]
        }
    }

    @Test(arguments: OutputTransform.allCases) func tagsTurnPicturesUpright(_ transform: OutputTransform) {
        let stored = Self.stored(transform)
        #expect(Self.upright(stored, transform.orientation()) == [[0, 1], [2, 3]])
        #expect(Self.upright(stored.reversed(), transform.orientation(isUpsideDown: true)) == [[0, 1], [2, 3]])
    }

    /// A part of a stored picture of five by three pixels is what the user sees there.
    @Test(arguments: OutputTransform.allCases, [false, true])
    func partsOfStoredPictures(_ transform: OutputTransform, isUpsideDown: Bool) {
        let upright = (0..<3).map { row in (0..<5).map { row * 5 + $0 } }
        var stored = upright
        if transform.rawValue >= 4 { stored = stored.map { $0.reversed() } }
        for _ in 0..<transform.rawValue % 4 {
            stored = stored[0].indices.reversed().map { column in stored.map { $0[column] } }
        }
        if isUpsideDown { stored.reverse() }
        for (x, y, width, height) in [(0, 0, 5, 3), (0, 0, 1, 1), (3, 0, 2, 1), (1, 1, 2, 2), (4, 0, 1, 3)] {
            let part = transform.stored(
                CaptureRectangle(x: x, y: y, width: width, height: height), width: 5, height: 3,
                isUpsideDown: isUpsideDown)
            let seen = stored[part.y..<part.y + part.height].flatMap { $0[part.x..<part.x + part.width] }
            let meant = upright[y..<y + height].flatMap { $0[x..<x + width] }
            #expect(Set(seen) == Set(meant) && seen.count == meant.count, "\(part)")
        }
    }

    @Test func sides() {
        #expect(OutputTransform.allCases.filter(\.exchangesSides).map(\.rawValue) == [1, 3, 5, 7])
    }
}

/// Promise: what cannot be sent of an output is refused before it is captured, in its pixels, however it is scaled and
/// turned.
@Suite struct OutputPlaceTests {
    private static func output(
        _ width: Int, _ height: Int, pixels: (Int, Int), _ transform: OutputTransform = .normal
    ) -> WaylandOutput {
        WaylandOutput(
            id: 1, name: "DP-1", area: .init(x: 500, y: 0, width: width, height: height), width: pixels.0,
            height: pixels.1, transform: transform)
    }

    private static func answer(_ output: WaylandOutput, _ width: Int, _ height: Int, x: Int = 0) -> String {
        do {
            return try output.place(of: .init(x: x, y: 0, width: width, height: height))?.name ?? "all"
        } catch { return "\(error)" }
    }

    @Test func smallAreas() {
        let plain = Self.output(640, 360, pixels: (640, 360))
        #expect(Self.answer(plain, 16, 16) == "16x16+0+0")
        #expect(
            Self.answer(plain, 15, 16)
                == "the area 15x16+0+0 of the output DP-1 is 15x16 pixels, which cannot be sent: "
                + "sides are 16 to 4096 pixels; choose a part of the output with --area")
        #expect(Self.answer(plain, 100, 100, x: 630).contains("is 10x100 pixels"), "what is left of it")
        #expect(Self.answer(plain, 100, 100, x: 640).contains("lies outside of the output DP-1, which is 640x360+0+0"))
        #expect(Self.answer(Self.output(320, 180, pixels: (640, 360)), 8, 8) == "8x8+0+0", "scaled")
        #expect(Self.answer(Self.output(320, 180, pixels: (640, 360)), 7, 8).contains("is 14x16 pixels"))
        // 15.6 pixels, which a compositor may round.
        #expect(Self.answer(Self.output(492, 277, pixels: (640, 360)), 12, 13) == "12x13+0+0")
    }

    @Test func turnedOutputs() {
        let turned = Self.output(360, 640, pixels: (1280, 720), .quarter)
        #expect(Self.answer(turned, 8, 8) == "8x8+0+0" && Self.answer(turned, 7, 8).contains("is 14x16 pixels"))
    }

    /// Where parts lie in stored pictures, in pixels.
    @Test func scaledAndTurned() throws {
        let picture = try WaylandFormat(code: 0, width: 1280, height: 720, stride: 5120)
        func place(_ output: WaylandOutput, _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> String {
            output.stored(.init(x: x, y: y, width: width, height: height), in: picture, isUpsideDown: false).name
        }
        #expect(place(Self.output(640, 360, pixels: (1280, 720)), 10, 20, 100, 50) == "200x100+20+40")
        // Turned counter-clockwise: the right edge is the upper one.
        #expect(place(Self.output(360, 640, pixels: (1280, 720), .quarter), 10, 20, 100, 50) == "100x200+40+500")
        #expect(place(Self.output(360, 640, pixels: (1280, 720), .threeQuarters), 10, 20, 100, 50) == "100x200+1140+20")
        // 1.3 pixels each: from 13.0 to 144.4, and from 26.0 to 91.0.
        #expect(place(Self.output(985, 554, pixels: (1280, 720)), 10, 20, 101, 50) == "131x65+13+26")
        #expect(place(Self.output(985, 554, pixels: (1280, 720)), 0, 0, 985, 554) == "1280x720+0+0")
    }

    @Test func largeOutputs() throws {
        #expect(try Self.output(4096, 2160, pixels: (4096, 2160)).place(of: nil) == nil)
        let wide = Self.output(2560, 1440, pixels: (5120, 2880))
        let error = #expect(throws: ScreenError.self) { try wide.place(of: nil) }
        #expect(error?.description.hasPrefix("the output DP-1 is 5120x2880 pixels, which cannot be sent") == true)
        #expect(Self.answer(wide, 2048, 1440) == "2048x1440+0+0")
        #expect(try Self.output(0, 0, pixels: (0, 0)).place(of: nil) == nil, "an output without a mode")
    }
}

/// Promise: an output is never replaced by another one that viewers may not be meant to see.
@Suite struct OutputChoiceTests {
    private static func outputs(
        _ names: [String], count: Int? = nil, meetings: UInt32? = nil, areNamed: Bool = true
    ) -> WaylandOutputs {
        let known = names.enumerated().map { index, name in
            WaylandOutput(
                id: UInt32(index), name: name, area: .init(x: 0, y: 0, width: 640, height: 360), width: 640,
                height: 360, isNamed: areNamed)
        }
        return WaylandOutputs(
            known: known, count: count ?? names.count, meetings: meetings ?? UInt32(max(0, names.count - 1)))
    }

    private static func message(
        _ choice: inout OutputChoice, _ names: [String], count: Int? = nil, meetings: UInt32? = nil
    ) -> String {
        do {
            return try choice.choose(among: outputs(names, count: count, meetings: meetings)).name
        } catch {
            #expect(error.isTemporary)
            return "\(error)"
        }
    }

    @Test func aNameIsKept() throws {
        var choice = OutputChoice(name: "DP-2")
        #expect(Self.message(&choice, ["DP-1", "DP-2"]) == "DP-2")
        #expect(Self.message(&choice, ["DP-1"]) == "the compositor has no output DP-2; it has DP-1")
        #expect(Self.message(&choice, []) == "the compositor has no output DP-2")
        // Also if it was the only one.
        #expect(Self.message(&choice, ["DP-2"]) == "DP-2")
        choice.connect()
        #expect(Self.message(&choice, ["DP-1"]) == "the compositor has no output DP-2; it has DP-1")
    }

    @Test func theFirstOfSeveralIsKept() throws {
        var choice = OutputChoice(name: nil)
        let outputs = Self.outputs(["eDP-1", "HDMI-1"])
        let chosen = try choice.choose(among: outputs)
        #expect(chosen.name == "eDP-1")
        #expect(
            choice.hint(chosen, among: outputs)
                == "only eDP-1 is captured; --monitor chooses another output: HDMI-1")
        #expect(Self.message(&choice, ["HDMI-1"], meetings: 1) == "the compositor has no output eDP-1; it has HDMI-1")
        #expect(Self.message(&choice, ["HDMI-1", "eDP-1"], meetings: 2) == "eDP-1")
    }

    /// Bug: each connection chose anew, so that the first one of another compositor, or after the daemon had restarted,
    /// took the place of the one that was captured.
    @Test func itIsKeptFromOneConnectionToTheNext() throws {
        var choice = OutputChoice(name: nil)
        #expect(Self.message(&choice, ["eDP-1", "HDMI-1"]) == "eDP-1")
        choice.connect()
        #expect(Self.message(&choice, ["HDMI-1"]) == "the compositor has no output eDP-1; it has HDMI-1")
        #expect(Self.message(&choice, ["HDMI-1", "eDP-1"]) == "eDP-1")
        choice.connect()
        #expect(Self.message(&choice, ["DP-1", "DP-2"]) == "the compositor has no output eDP-1; it has DP-1, DP-2")
    }

    /// Numbers begin anew on each connection: the first one may be another output.
    @Test func aNumberIsNotKept() throws {
        var choice = OutputChoice(name: nil)
        let two = Self.outputs(["output-1", "output-2"], areNamed: false)
        #expect(try choice.choose(among: two).name == "output-1")
        choice.connect()
        #expect(throws: ScreenError.self) { try choice.choose(among: two) }
        var chosen = OutputChoice(name: "output-2")
        #expect(try chosen.choose(among: two).name == "output-2")
        chosen.connect()
        #expect(throws: ScreenError.self) { try chosen.choose(among: two) }
        var first = OutputChoice(name: "output-1")
        let alone = Self.outputs(["output-1"], areNamed: false)
        #expect(try first.choose(among: alone).name == "output-1")
        first.connect()
        #expect(try first.choose(among: alone).name == "output-1")
        var only = OutputChoice(name: nil)
        let one = Self.outputs(["output-1"], areNamed: false)
        #expect(try only.choose(among: one).name == "output-1")
        only.connect()
        #expect(try only.choose(among: one).name == "output-1")
    }

    @Test func theOnlyOneMayHaveAnotherName() throws {
        var choice = OutputChoice(name: nil)
        let outputs = Self.outputs(["HEADLESS-1"])
        #expect(choice.hint(try choice.choose(among: outputs), among: outputs) == nil)
        #expect(Self.message(&choice, []) == "the compositor has no output HEADLESS-1")
        #expect(Self.message(&choice, ["HEADLESS-2"]) == "HEADLESS-2")
        choice.connect()
        #expect(Self.message(&choice, ["A", "B"]) == "the compositor has no output HEADLESS-2; it has A, B")
        choice.connect()
        #expect(Self.message(&choice, ["HEADLESS-1"]) == "HEADLESS-1")
        var other = OutputChoice(name: nil)
        #expect(Self.message(&other, []) == "the compositor has no output")
    }

    /// Bug: outputs may come and go from one look to the next. One that came beside the captured one was taken for it
    /// if the two were never seen together.
    @Test func anOutputThatCameBesideTheOnlyOneIsAnother() throws {
        var choice = OutputChoice(name: nil)
        #expect(Self.message(&choice, ["DP-1"]) == "DP-1")
        let text = "the compositor has no output DP-1"
        #expect(Self.message(&choice, ["DP-2"], meetings: 1) == text + "; it has DP-2")
        // It goes, and comes back while there is none; or a third one.
        #expect(Self.message(&choice, [], meetings: 1) == text)
        #expect(Self.message(&choice, ["DP-2"], meetings: 1) == text + "; it has DP-2")
        #expect(Self.message(&choice, ["DP-3"], meetings: 1) == text + "; it has DP-3")
        // It is back, alone: then it is the only one again.
        #expect(Self.message(&choice, ["DP-1"], meetings: 1) == "DP-1")
        #expect(Self.message(&choice, ["DP-3"], meetings: 1) == "DP-3")
    }

    /// The other one is there, but nothing is known of it as yet.
    @Test func anOutputOfWhichNothingIsKnownIsAnother() throws {
        var choice = OutputChoice(name: nil)
        #expect(Self.message(&choice, ["DP-1"], count: 2, meetings: 1) == "DP-1")
        #expect(
            Self.message(&choice, ["DP-2"], meetings: 1) == "the compositor has no output DP-1; it has DP-2")
    }
}

/// Promise: pictures that the daemon would read wrongly are refused with a sentence.
@Suite struct WaylandFormatTests {
    private static func format(
        _ code: UInt32, _ width: UInt32 = 640, _ height: UInt32 = 360, stride: UInt32? = nil
    ) throws -> PixelFormat {
        try WaylandFormat(code: code, width: width, height: height, stride: stride ?? width &* 4).pixelFormat
    }

    private static func message(_ code: UInt32, _ width: UInt32 = 640, stride: UInt32? = nil) -> String {
        do { return "\(try format(code, width, stride: stride))" } catch { return "\(error)" }
    }

    @Test func formats() throws {
        #expect(try Self.format(0) == .bgra && Self.format(1) == .bgra)
        #expect(try Self.format(0x3432_4258) == .rgba && Self.format(0x3432_4241) == .rgba)
    }

    /// A part of a large picture may be sent.
    @Test func picturesThatAreCut() throws {
        let format = try WaylandFormat(code: 0, width: 7680, height: 4320, stride: 30_720, isCut: true)
        #expect(format.width == 7680)
        let error = #expect(throws: ScreenError.self) {
            try WaylandFormat(code: 0, width: 7680, height: 8193, stride: 30_720, isCut: true)
        }
        #expect(error?.description.hasSuffix("their sides have at most 8192 pixels") == true)
    }

    @Test func whatIsRefused() {
        // XR30, with ten bits.
        #expect(Self.message(0x3033_5258).contains("in the format XR30, which upcast-screen cannot send"))
        #expect(Self.message(7).contains("in the format 7,"))
        #expect(Self.message(1, 5120).contains("5120x360 pixels cannot be sent"))
        #expect(Self.message(1, .max, stride: 0).contains("cannot be sent"))
        #expect(Self.message(1, 640, stride: 2688) == """
            the compositor wants rows of 2688 bytes for 640 pixels; upcast-screen sends rows of 2560
            """)
    }
}

/// Promise: frames have the time at which they were shown, on one clock, and in order.
@Suite struct PictureTimeTests {
    @Test func stampsOfTheMonotonicClockAreTaken() {
        var time = PictureTime()
        #expect(time.time(stamp: .milliseconds(990), arrival: .milliseconds(1000)) == .milliseconds(990))
        #expect(time.time(stamp: nil, arrival: .milliseconds(1020)) == .milliseconds(1020))
        // A little ahead: the picture is not shown yet, but it is there.
        #expect(time.time(stamp: .milliseconds(1090), arrival: .milliseconds(1050)) == .milliseconds(1050))
    }

    @Test func otherClocksAreNot() {
        var time = PictureTime()
        // The wall clock.
        #expect(time.time(stamp: .seconds(1_790_000_000), arrival: .seconds(40)) == .seconds(40))
        #expect(time.time(stamp: .zero, arrival: .seconds(41)) == .seconds(41))
    }

    @Test func timesRise() {
        var time = PictureTime()
        let first = time.time(stamp: .milliseconds(1000), arrival: .milliseconds(1001))
        #expect(time.time(stamp: .milliseconds(1000), arrival: .milliseconds(1002)) > first)
    }
}

/// Promise: a compositor that gives no picture is asked again, and not all the time.
@Suite struct FailedAttemptsTests {
    @Test func theyBecomeSlow() {
        var attempts = FailedAttempts()
        for number in 1...30 {
            let (pause, isNews) = attempts.failed()
            #expect(pause == (number < 10 ? .milliseconds(50) : .seconds(1)))
            #expect(isNews == (number == 10))
        }
        attempts.succeeded()
        #expect(attempts.failed().pause == .milliseconds(50))
    }
}
