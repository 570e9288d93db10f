import Glibc
import Grabbing
import TestSupport
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: what an X server knows of a window and of all in it is known; and what is not looked at counts as secret.
@Suite struct WindowFactsTests {
    /// The facts of a window with `count` windows in it, of which the last one has a chain of `levels` windows in it.
    private static func facts(count: Int, levels: Int) async throws -> WindowFacts {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let crowd = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--inside", "\(count)", "\(levels)"],
                environment: ["DISPLAY": screen.display])
            let display = try X11Connection(display: screen.display)
            defer { crowd.signal(SIGKILL) }
            return try waitFor("the window", evidence: { crowd.errorTail }) {
                let all = try display.facts(of: display.watchWindows().map(\.window)).values
                return all.first { $0.isViewable && $0.names.contains { $0.className == "Crowd" } }
            }
        }
    }

    /// What is known of all windows of a screen, once a program of windows that belong together shows a window of a
    /// class; and the places that a rule hides of them.
    private static func family(
        _ arguments: [String], showing className: String, hide rule: String
    ) async throws -> (facts: WindowFacts, hidden: [CaptureRectangle]) {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let family = try ChildProcess(
                ProductExecutable.windowFamily.path, arguments, environment: ["DISPLAY": screen.display])
            let display = try X11Connection(display: screen.display)
            defer { family.signal(SIGKILL) }
            let facts = try waitFor("the window", evidence: { family.errorTail }) { () -> WindowFacts? in
                let all = try display.facts(of: display.watchWindows().map(\.window)).values
                guard all.contains(where: { $0.isViewable && $0.className == "Main" }) else { return nil }
                return all.first { $0.isViewable && $0.className == className }
            }
            var model = WindowModel(
                try Self.rules(rule), bounds: CaptureRectangle(x: 0, y: 0, width: 640, height: 360))
            model.add(try display.watchWindows())
            model.note(try #require(try display.read({ model.unread }, taking: { _ in })))
            return (facts, model.secrets(hidesUnknown: true).places)
        }
    }

    private static let mainPlace = CaptureRectangle(x: 40, y: 40, width: 200, height: 120)
    private static let otherPlace = CaptureRectangle(x: 100, y: 80, width: 100, height: 60)

    private static func rules(_ rule: String) throws -> WindowRules {
        var rules = WindowRules()
        try rules.add(rule)
        return rules
    }

    /// Each window in it has a name that rules match, however many there are.
    @Test func allNames() async throws {
        let facts = try await Self.facts(count: 300, levels: 0)
        #expect(!facts.hasUnseen && facts.secure == 1)
        #expect(facts.names.count == 301)
        for number in [0, 7, 8, 150, 298, 299] {
            #expect(try Self.rules("class=Inner\(number)").match(facts), "\(number)")
        }
        #expect(try !Self.rules("class=Inner300").match(facts))
        #expect(Set(facts.owners).count == 1, "\(facts.owners.prefix(3))")
    }

    /// A window has the process of its X client, or no facts: also one whose client ends while it is read. Else its
    /// menu would be nobody's, and its pixels stay on the screen without being hidden.
    @Test func clientsThatEnd() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let display = try X11Connection(display: screen.display)
            let clients = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--clients", "400"], environment: ["DISPLAY": screen.display])
            var (known, gone) = (0, 0)
            while clients.isRunning {
                for found in try display.watchWindows() {
                    guard let facts = try display.facts(of: [found.window])[found.window] else {
                        gone += 1
                        continue
                    }
                    #expect(facts.names.first?.process == UInt32(clients.processID))
                    known += 1
                }
                while try display.nextEvent() != nil {}
            }
            #expect(known > 0 && gone > 0, "\(known) with facts, \(gone) without; \(clients.errorTail)")
        }
    }

    @Test func deepOnes() async throws {
        let facts = try await Self.facts(count: 1, levels: 20)
        #expect(!facts.hasUnseen && facts.secure == 1)
    }

    /// `WM_NAME` beside `_NET_WM_NAME`, unless it is in an encoding that nobody reads.
    @Test func bothTitles() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let window = try ChildProcess(
                "xterm", ["-display", screen.display, "-class", "Two", "-T", "Old", "-e", "sleep 60"])
            let display = try X11Connection(display: screen.display)
            func names() throws -> WindowNames? {
                try display.facts(of: display.watchWindows().map(\.window)).values.flatMap(\.names)
                    .first { $0.className == "Two" }
            }
            let number = try waitFor("the window", evidence: { window.errorTail }) { try names()?.window }
            func set(_ property: String, _ type: String, _ text: String) throws {
                _ = try ChildProcess.run(
                    "xprop",
                    ["-display", screen.display, "-id", "\(number)", "-f", property, type, "-set", property, text])
            }
            try set("_NET_WM_NAME", "8u", "Größe")
            var found = try #require(try names())
            #expect((found.title, found.oldTitle, found.isTitleCut) == ("Größe", "Old", false))
            try set("WM_NAME", "8t", "\u{1b}%G")
            found = try #require(try names())
            #expect((found.title, found.isTitleCut) == ("Größe", false))
            _ = try ChildProcess.run(
                "xprop", ["-display", screen.display, "-id", "\(number)", "-remove", "_NET_WM_NAME"])
            try set("WM_NAME", "8s", "Only")
            found = try #require(try names())
            #expect((found.title, found.oldTitle, found.isTitleCut) == ("Only", "", false))
            try set("WM_CLASS", "8s", String(repeating: "x", count: 200))
            let all = try display.facts(of: display.watchWindows().map(\.window)).values.flatMap(\.names)
            found = try #require(all.first { $0.window == number })
            #expect((found.instance.count, found.isClassCut, found.isTitleCut) == (127, true, false))
            window.signal(SIGKILL)
        }
    }

    /// One that only takes input hides everything if it says so, before it is mapped or afterwards.
    @Test(arguments: [true, false]) func aWindowThatOnlyTakesInput(saysSoBefore: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let program = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--input-only"] + (saysSoBefore ? ["2"] : []),
                environment: ["DISPLAY": screen.display])
            defer { program.signal(SIGKILL) }
            let window = try waitFor("the window", evidence: { program.errorTail }) { () -> UInt32? in
                program.output.hasSuffix("\n") ? UInt32(program.output.dropLast()) : nil
            }
            let display = try X11Connection(display: screen.display)
            var model = WindowModel(WindowRules(), bounds: CaptureRectangle(x: 0, y: 0, width: 640, height: 360))
            model.add(try display.watchWindows())
            func hidesEverything() throws -> Bool {
                // The answer comes after all events.
                _ = try display.activeWindow()
                while let event = try display.nextEvent() {
                    if case .window(let event) = event { model.apply(event) }
                }
                let reading = try #require(try display.read({ model.unread }, taking: { _ in }))
                model.note(reading)
                return model.secrets(hidesUnknown: true).isEverywhere
            }
            #expect(try hidesEverything() == saysSoBefore)
            for value in [2, 0] {
                _ = try ChildProcess.run(
                    "xprop",
                    [
                        "-display", screen.display, "-id", "\(window)", "-f", "_UPCAST_SECURE", "32c", "-set",
                        "_UPCAST_SECURE", "\(value)",
                    ])
                #expect(try hidesEverything() == (value == 2), "\(value)")
            }
        }
    }

    /// More windows than are looked at, and deeper ones.
    @Test(arguments: [(1100, 0), (1, 40)]) func whatIsNotLookedAt(count: Int, levels: Int) async throws {
        let facts = try await Self.facts(count: count, levels: levels)
        #expect(facts.hasUnseen && facts.secure == 0)
        var model = WindowModel(WindowRules(), bounds: CaptureRectangle(x: 0, y: 0, width: 640, height: 360))
        model.addAndRead([7: facts])
        #expect(model.secrets(hidesUnknown: false).places == [facts.place])
    }

    /// Latin-1, as ICCCM says; and UTF-8, as many programs write it.
    @Test(arguments: [
        ("STRING", "4772fc6e"), ("STRING", "4772c3bc6e"), ("UTF8_STRING", "4772c3bc6e"), ("COMPOUND_TEXT", "4772fc6e"),
    ]) func titles(type: String, bytes: String) async throws {
        let family = try await Self.family(["--title", type, bytes], showing: "Main", hide: "title=gr\u{fc}n")
        #expect(family.facts.title == "Gr\u{fc}n" && family.facts.names.allSatisfy { !$0.isTitleCut })
        #expect(family.hidden == [Self.mainPlace])
    }

    /// COMPOUND_TEXT that switches to Cyrillic, which nobody reads here: it may be any title.
    @Test func aTitleThatNobodyReads() async throws {
        let bytes = "1b2d4cc2d0dddad0"
        let family = try await Self.family(["--title", "COMPOUND_TEXT", bytes], showing: "Main", hide: "title=Bank")
        #expect(family.facts.names.first?.isTitleCut == true)
        #expect(family.hidden == [Self.mainPlace])
    }

    /// The class of a window with a long title is known.
    @Test(arguments: [("class=Bank", false), ("class=Main", true), ("title=Bank", true)])
    func aLongTitle(rule: String, isHidden: Bool) async throws {
        let bytes = String(repeating: "61", count: 1100)
        let family = try await Self.family(["--title", "STRING", bytes], showing: "Main", hide: rule)
        let names = try #require(family.facts.names.first)
        #expect(names.title.count == 1023 && names.isTitleCut && !names.isClassCut)
        #expect(family.hidden == (isHidden ? [Self.mainPlace] : []))
    }

    /// Toolkits say in three ways that a dialog is one of its group.
    @Test(arguments: ["dialog", "root", "leader"]) func aDialogOfAGroup(kind: String) async throws {
        let family = try await Self.family(["--group", kind], showing: "Other", hide: "class=Main")
        #expect(family.facts.isTransientForGroup && family.facts.group != nil && family.facts.transientFor == nil)
        #expect(Set(family.hidden.map(\.name)) == Set([Self.mainPlace, Self.otherPlace].map(\.name)))
    }

    @Test func aWindowOfAGroup() async throws {
        let family = try await Self.family(["--group", "window"], showing: "Other", hide: "class=Main")
        #expect(!family.facts.isTransientForGroup && family.facts.group != nil)
        #expect(family.hidden == [Self.mainPlace])
    }

    /// Managers show a window that a program has named as its icon.
    @Test func anIconWindow() async throws {
        let family = try await Self.family(["--icon"], showing: "Other", hide: "class=Main")
        #expect(Set(family.hidden.map(\.name)) == Set([Self.mainPlace, Self.otherPlace].map(\.name)))
        let plain = try await Self.family(["--pair"], showing: "Other", hide: "class=Main")
        #expect(plain.hidden == [Self.mainPlace])
    }

    /// The parent of a dialog is a window without a name and a class, inside a secret one.
    @Test func aDialogOfAnUnnamedWindow() async throws {
        let family = try await Self.family(["--inner"], showing: "Other", hide: "class=Main")
        #expect(family.facts.transientFor != nil)
        #expect(Set(family.hidden.map(\.name)) == Set([Self.mainPlace, Self.otherPlace].map(\.name)))
    }

    /// Not all of a flood is taken at once.
    @Test func aFloodOfEvents() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let display = try X11Connection(display: screen.display)
            _ = try display.watchWindows()
            let family = try ChildProcess(
                ProductExecutable.windowFamily.path, ["--flood", "400"], environment: ["DISPLAY": screen.display])
            try family.waitForSuccess(within: 20)
            // The answer comes after all events.
            _ = try display.activeWindow()
            var turns: [Int] = []
            var hasMore = true
            while hasMore {
                var count = 0
                hasMore = try display.takeEvents { _ in count += 1 }
                turns.append(count)
            }
            #expect(turns.reduce(0, +) >= 800 && turns.dropLast().allSatisfy { $0 == 256 }, "\(turns)")
        }
    }
}
