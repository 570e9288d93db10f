import Glibc
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
                let all = try display.watchWindows().compactMap { try display.facts(of: $0) }
                return all.first { $0.isViewable && $0.names.contains { $0.className == "Crowd" } }
            }
        }
    }

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
                for window in try display.watchWindows() {
                    guard let facts = try display.facts(of: window) else {
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

    /// More windows than are looked at, and deeper ones.
    @Test(arguments: [(1100, 0), (1, 40)]) func whatIsNotLookedAt(count: Int, levels: Int) async throws {
        let facts = try await Self.facts(count: count, levels: levels)
        #expect(facts.hasUnseen && facts.secure == 0)
        var model = WindowModel(WindowRules(), bounds: CaptureRectangle(x: 0, y: 0, width: 640, height: 360))
        model.add([7])
        model.note(facts, of: 7)
        #expect(model.secrets(hidesUnknown: false).places == [facts.place])
    }
}
