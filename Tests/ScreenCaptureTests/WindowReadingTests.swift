import Glibc
import Grabbing
import MediaCore
import TestSupport
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: windows are read as of one moment, whatever other programs do meanwhile, and with all events before it.
@Suite struct WindowReadingTests {
    /// A screen with two windows of one program.
    private final class Rig: Sendable {
        let screen: VirtualScreen
        let family: ChildProcess
        let display: X11Connection

        init() throws {
            screen = try VirtualScreen(width: 640, height: 360)
            family = try ChildProcess(
                ProductExecutable.windowFamily.path, ["--group", "window"], environment: ["DISPLAY": screen.display])
            display = try X11Connection(display: screen.display)
        }

        deinit { family.signal(SIGKILL) }

        /// A model of the windows, once they are there.
        func model() throws -> WindowModel {
            var model = WindowModel(WindowRules(), bounds: CaptureRectangle(x: 0, y: 0, width: 640, height: 360))
            let found = try waitFor("the windows", evidence: { family.errorTail }) { () -> [FoundWindow]? in
                let found = try display.watchWindows()
                let names = try display.facts(of: found.filter(\.isViewable).map(\.window)).values.map(\.className)
                return Set(names) == ["Main", "Other"] ? found : nil
            }
            while try display.nextEvent() != nil {}
            model.add(found)
            return model
        }

        /// Notes all events that there are.
        func follow(_ watch: inout WindowWatch) throws {
            _ = try display.activeWindow()
            while let event = try display.nextEvent() {
                if case .window(let event) = event { watch.take(event, now: .zero) }
            }
        }

        func run(_ command: String, _ arguments: String...) throws {
            try ChildProcess(command, arguments, environment: ["DISPLAY": screen.display]).waitForSuccess(within: 20)
        }

        func setTitle(_ title: String, of window: UInt32) throws -> ChildProcess {
            try ChildProcess(
                "xprop",
                ["-display", screen.display, "-id", "\(window)", "-f", "WM_NAME", "8s", "-set", "WM_NAME", title])
        }
    }

    @Test func nothingHappens() async throws {
        try await blocking {
            let rig = try Rig()
            var (model, count) = (try rig.model(), 0)
            let read = try rig.display.read(
                {
                    count += 1
                    return model.unread
                }, taking: { _ in Issue.record("nothing happens") })
            let reading = try #require(read)
            #expect(count == 1 && Set(reading.facts.keys) == Set(model.unread.windows) && reading.facts.count >= 2)
            model.note(reading)
            #expect(model.unread.windows == [] && reading.manager == .none && reading.compositor == nil)
        }
    }

    /// An X client is of a process until it ends.
    @Test func clients() async throws {
        try await blocking {
            let rig = try Rig()
            let window = try #require(try rig.model().unread.windows.first)
            let client = window & ~rig.display.resourceMask
            func owner() throws -> WindowNames.Owner? {
                let request = WindowRequest(clients: [client])
                let reading = try #require(try rig.display.read({ request }, taking: { _ in }))
                #expect(Array(reading.clients.keys) == [client] && reading.facts.isEmpty)
                return reading.clients[client] ?? nil
            }
            #expect(try owner() == .process(UInt32(rig.family.processID)))
            try rig.family.stop(SIGKILL)
            try waitFor("the X client to end") { try owner() == nil }
        }
    }

    /// A program changes a window after the first answer. The other programs wait while it is read again, and go on.
    @Test func aProgramChangesAWindow() async throws {
        try await blocking {
            let rig = try Rig()
            var (model, titles, events) = (try rig.model(), ["first", "second"], [WindowEvent]())
            let window = try #require(model.unread.windows.first)
            var last: ChildProcess?
            func take(_ event: X11Connection.Event) {
                guard case .window(let event) = event else { return }
                model.apply(event)
                events.append(event)
            }
            let read = try rig.display.read(
                {
                    let change = try? rig.setTitle(titles.removeFirst(), of: window)
                    if titles.isEmpty { last = change }
                    let exit = change?.waitForExit(within: titles.isEmpty ? 0.3 : 20)
                    #expect(exit == (titles.isEmpty ? nil : .code(0)), "the second one waits for the reading")
                    return model.unread
                }, taking: take)
            let reading = try #require(read)
            #expect(reading.facts[window]?.title == "first" && titles.isEmpty)
            #expect(model.hasUnknown, "nothing is noted yet")
            #expect(events.map(\.kind) == [.renamed] && events.map(\.window) == [window])
            try #require(last).waitForSuccess(within: 20)
            model.note(reading)
            #expect(model.unread.windows == [])
            _ = try rig.display.activeWindow()
            while let event = try rig.display.nextEvent() { take(event) }
            #expect(model.unread.windows == [window], "the second title came after the reading")
            #expect(try rig.display.read({ model.unread }, taking: take)?.facts[window]?.title == "second")
        }
    }

    /// A compositing manager takes the keyboard in the overlay window, and ends.
    @Test func theOverlayHasTheKeyboard() async throws {
        try await blocking {
            let rig = try Rig()
            let window = try #require(try rig.model().windows.first { $0.value.isViewable }?.key)
            try rig.run("xdotool", "windowfocus", "\(window)")
            #expect(try !rig.display.hasOverlayFocus())
            for _ in 0..<2 {
                let manager = try ChildProcess(
                    ProductExecutable.windowFamily.path, ["--overlay"], environment: ["DISPLAY": rig.screen.display])
                // Events of the last overlay window, which has the same number, are still unread.
                try waitFor("the focus", while: manager) { try rig.display.hasOverlayFocus() }
                // From here on, changes are told.
                try rig.run("xdotool", "windowfocus", "\(window)")
                #expect(try !rig.display.hasOverlayFocus())
                var events: [X11Connection.Event] = []
                while let event = try rig.display.nextEvent() { events.append(event) }
                #expect(events.contains { if case .overlayFocusChanged = $0 { true } else { false } }, "\(events)")
                try manager.stop(SIGKILL)
            }
            try rig.run("xdotool", "windowfocus", "\(window)")
            #expect(try !rig.display.hasOverlayFocus())
        }
    }

    /// A compositing manager comes after the first answer. If that took long, nobody waits, and nothing is read.
    @Test func aCompositingManagerComes() async throws {
        try await blocking {
            let rig = try Rig()
            var (model, managers) = (try rig.model(), [ChildProcess]())
            defer { managers.forEach { $0.kill() } }
            let reading = try rig.display.read(
                {
                    // The second time, the server is grabbed.
                    if managers.isEmpty,
                        let manager = try? rig.screen.manage(with: "xfwm4"),
                        let other = try? X11Connection(display: rig.screen.display), (try? other.watchWindows()) != nil
                    {
                        managers.append(manager)
                        _ = try? waitFor("the manager", evidence: { manager.errorTail }) {
                            try other.read({ WindowRequest() }, taking: { _ in })?.compositor != nil
                        }
                    }
                    return model.unread
                }, taking: { if case .window(let event) = $0 { model.apply(event) } })
            #expect(managers.count == 1 && reading.map { $0.compositor != nil } ?? true)
            #expect(try rig.display.read({ model.unread }, taking: { _ in })?.compositor != nil)
        }
    }

    /// A window that is not on the screen becomes secure after the reading: a dialog of it may be in the picture, which
    /// nobody can judge. One that changes all the time does not stop pictures.
    @Test func anUnmappedWindowBecomesSecure() async throws {
        try await blocking {
            let rig = try Rig()
            var watch = WindowWatch(WindowRules(), front: nil, rig.display)
            let window = try #require(try rig.model().unread.windows.last)
            try watch.begin()
            try rig.run("xdotool", "windowunmap", "--sync", "\(window)")
            try rig.follow(&watch)
            let isJudgedUnread = watch.judge(now: .zero, grabbed: .zero, showsMark: { _ in true })
            #expect(!isJudgedUnread, "nothing is read")
            let reading = try #require(try rig.display.read({ watch.unread }, taking: { _ in }))
            watch.note(reading, now: .zero)
            let isJudged = watch.judge(now: .zero, grabbed: .zero, showsMark: { _ in true })
            #expect(isJudged)
            try rig.run(
                "xprop", "-display", rig.screen.display, "-id", "\(window)", "-f", "_UPCAST_SECURE", "32c", "-set",
                "_UPCAST_SECURE", "1")
            try rig.follow(&watch)
            var judged: [Bool] = []
            for _ in 0..<4 { judged.append(watch.judge(now: .zero, grabbed: .zero, showsMark: { _ in true })) }
            #expect(judged == [false, false, false, true])
        }
    }

    /// A window of another application that is raised may be in front. One that stays above all others has not moved.
    @Test func aWindowIsRaised() async throws {
        try await blocking {
            let rig = try Rig()
            _ = try rig.model()
            var front = WindowRules()
            try front.add("class=Main")
            var watch = WindowWatch(WindowRules(), front: front, rig.display)
            try watch.begin()
            var reading = try #require(try rig.display.read({ watch.unread }, taking: { _ in }))
            let main = try #require(reading.facts.first { $1.className == "Main" }?.key)
            let other = try #require(reading.facts.first { $1.className == "Other" }?.key)
            reading.facts[other]?.names[0].owner = .process(1)
            watch.note(reading, now: .zero)
            try rig.run(
                "xprop", "-display", rig.screen.display, "-root", "-f", "_NET_ACTIVE_WINDOW", "32x", "-set",
                "_NET_ACTIVE_WINDOW", "\(main)")
            /// Whether the application is in front now, and at once after a window was put at another level.
            func isInFront(_ seconds: Int64, _ window: UInt32, _ level: WindowStack.Level) throws -> [Bool] {
                let now = MediaTime.seconds(seconds)
                let before = try watch.isInFront(now: now)
                watch.take(WindowEvent(.restacked, window, sequence: 1, level: level), now: now)
                return [before, try watch.isInFront(now: now)]
            }
            _ = try isInFront(1, main, .highest)
            #expect(try isInFront(2, other, .highest) == [true, false], "it is raised")
            #expect(try isInFront(3, other, .highest) == [true, true], "it stays")
            #expect(try isInFront(4, other, .lowest) == [true, false])
            #expect(try isInFront(5, main, .highest) == [true, true])
        }
    }

    /// Pictures and pointers say nothing of windows.
    @Test func whatDisturbsAReading() {
        let window = { (kind: WindowEvent.Kind) in X11Connection.Event.window(WindowEvent(kind, 1, sequence: 1)) }
        let place = CaptureRectangle(x: 0, y: 0, width: 1, height: 1)
        let kinds: [WindowEvent.Kind] =
            [.came(nil), .went, .changed, .renamed, .cameInside(isStranger: false), .rearranged, .stateChanged]
        let disturbing = [.composited(true)] + kinds.map(window)
        let others: [X11Connection.Event] =
            [.damaged, .screenChanged, .pointerShapeChanged, .pointerMoved, .activeChanged]
            + [.mapped, .unmapped, .moved(place), .movedInside, .unmappedInside, .restacked].map(window)
        #expect(disturbing.allSatisfy(\.changesReading) && !others.contains(where: \.changesReading))
        let menu = { WindowEvent(.mapped, 1, sequence: 1, isOverrideRedirect: $0) }
        #expect([nil, false, true].map { X11Connection.Event.window(menu($0)).changesReading } == [false, false, true])
    }

    /// Windows that move do not make it be read again, and are where they are in the picture.
    @Test func aWindowMoves() async throws {
        try await blocking {
            let rig = try Rig()
            var (model, count) = (try rig.model(), 0)
            let window = try #require(model.unread.windows.first)
            let read = try rig.display.read(
                {
                    count += 1
                    try? ChildProcess(
                        "xdotool", ["windowmove", "\(window)", "11", "22"], environment: ["DISPLAY": rig.screen.display]
                    ).waitForSuccess(within: 20)
                    return model.unread
                },
                taking: { if case .window(let event) = $0 { model.apply(event) } })
            model.note(try #require(read))
            #expect(count == 1 && model.windows[window]?.place.map { [$0.x, $0.y] } == [11, 22])
        }
    }
}
