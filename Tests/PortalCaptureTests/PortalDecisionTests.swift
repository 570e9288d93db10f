import Grabbing
import MediaCore
import PortalCapture
import Testing

/// Promise: the portal is asked for what the options say, and for nothing that they exclude.
@Suite struct PortalWishTests {
    private func facts(
        _ pointers: PortalFacts.PointerModes, _ sources: PortalFacts.Sources = [.monitor, .window], version: Int = 4
    ) -> PortalFacts { PortalFacts(version: version, sources: sources, pointers: pointers) }

    @Test func pointers() throws {
        let all: PortalFacts.PointerModes = [.hidden, .embedded, .metadata]
        #expect(try PortalWish(facts(all), showsPointer: true).pointer == .metadata)
        #expect(try PortalWish(facts([.hidden, .embedded]), showsPointer: true).pointer == .embedded)
        #expect(try PortalWish(facts(all), showsPointer: false).pointer == .hidden)
        // What is told beside the pictures can be left out.
        #expect(try PortalWish(facts([.embedded, .metadata]), showsPointer: false).pointer == .metadata)
        let lack = try PortalWish(facts(.hidden), showsPointer: true)
        #expect(lack.pointer == nil && lack.lack != nil)
    }

    /// A pointer that was to be left out is not sent, whatever the desktop has.
    @Test func aPointerThatCannotBeLeftOut() {
        #expect(throws: ScreenError.self) { try PortalWish(facts(.embedded), showsPointer: false) }
    }

    @Test func oldPortals() throws {
        let old = try PortalWish(facts([], version: 1), showsPointer: false)
        #expect(old.pointer == nil && !old.isPersistent && old.lack == nil)
        #expect(try !PortalWish(facts(.hidden, version: 3), showsPointer: false).isPersistent)
        #expect(try PortalWish(facts(.hidden), showsPointer: false).isPersistent)
    }

    @Test func sources() throws {
        // A monitor that is made for it: nobody sees what is on it.
        let other = PortalFacts.Sources(rawValue: 4)
        #expect(try PortalWish(facts(.hidden, [.monitor, other]), showsPointer: false).sources == .monitor)
        #expect(throws: ScreenError.self) {
            try PortalWish(facts(.hidden, other), showsPointer: false)
        }
    }
}

/// Promise: what a portal says becomes an error that names cause and cure, and a user's no is told from failures.
@Suite struct PortalAnswerTests {
    private func failure(_ answer: PortalAnswer, _ step: PortalStep) -> (any Error)? {
        do { try answer.check(step) } catch { return error }
        return nil
    }

    @Test func responses() throws {
        for step in PortalStep.allCases { #expect(failure(.response(code: 0), step) == nil) }
        #expect(failure(.response(code: 1), .start) is SharingRefused)
        #expect(failure(.response(code: 2), .start) as? PortalAnswer.NoAnswer == .ended(.start))
    }

    @Test func errors() throws {
        func text(_ name: String, _ step: PortalStep, _ text: String = "no") throws -> String {
            let error = try #require(failure(.error(name: "org.freedesktop.DBus.Error." + name, text: text), step))
            // All may pass: a desktop starts its parts in any order.
            #expect((error as? ScreenError)?.isTemporary == true)
            return "\(error)"
        }
        #expect(try text("ServiceUnknown", .facts).contains("apt install xdg-desktop-portal"))
        #expect(try text("InvalidArgs", .facts).contains("offers no ScreenCast"))
        #expect(try text("UnknownInterface", .facts).contains("offers no ScreenCast"))
        #expect(try text("InvalidArgs", .selection, "bad token").contains("SelectSources): bad token"))
        #expect(try text("NoReply", .session).contains("does not answer"))
        #expect(try text("Failed", .remote, "no server").contains("no server; PipeWire must run"))
        #expect(try text("Failed", .start, "").contains("org.freedesktop.DBus.Error.Failed"))
    }
}

/// Promise: what a user has ended does not begin again, and what a crash has ended does.
@Suite struct SharingEndTests {
    private func judge(after duration: MediaTime = .zero, _ note: (inout SharingEnd.Signs) -> Void) -> SharingEnd {
        var signs = SharingEnd.Signs()
        note(&signs)
        return SharingEnd.judge(signs, after: duration)
    }

    @Test func nothing() {
        #expect(judge { _ in } == .none)
        #expect(judge { $0.hasSession = true } == .none)
    }

    @Test func users() {
        #expect(judge { $0.isClosed = true } == .stopped)
        #expect(judge { ($0.isClosed, $0.hasStreamEnded) = (true, true) } == .stopped)
        // The stream's end comes first; then the desktop says that there is no session.
        #expect(judge { $0.hasStreamEnded = true } == .unclear)
        #expect(judge { ($0.hasStreamEnded, $0.hasSession) = (true, false) } == .stopped)
        // Or it still has it when it is asked, and not any more when it is asked again.
        #expect(judge { ($0.hasStreamEnded, $0.hasSession) = (true, true) } == .unclear)
        #expect(
            judge { ($0.hasStreamEnded, $0.hasSession, $0.isConfirmed) = (true, false, true) } == .stopped)
        // The portal has ended after that, before anybody has looked.
        #expect(judge { ($0.isClosed, $0.isPortalGone) = (true, true) } == .stopped)
    }

    /// The second question comes when somebody looks: that may be late.
    @Test func aLateSecondQuestion() {
        #expect(judge(after: .seconds(60)) { ($0.hasStreamEnded, $0.hasSession) = (true, true) } == .unclear)
    }

    /// KDE closes sessions when PipeWire ends. A user may also have closed one before, which nobody has looked at.
    @Test(arguments: [true, false]) func pipeWireEnds(isFirst: Bool) {
        let end: SharingEnd = isFirst ? .lost : .unknown
        #expect(
            judge {
                ($0.isClosed, $0.hasStreamEnded, $0.isServerGone, $0.hasServerEndedFirst) = (true, true, true, isFirst)
            } == end)
        #expect(
            judge {
                ($0.hasSession, $0.hasStreamEnded, $0.isServerGone, $0.hasServerEndedFirst)
                    = (false, true, true, isFirst)
            } == end)
    }

    /// Nobody says who has ended it.
    @Test func silence() {
        for isConfirmed in [false, true] {
            #expect(
                judge(after: SharingEnd.patience) {
                    ($0.hasStreamEnded, $0.isConfirmed) = (true, isConfirmed)
                } == .unknown)
        }
    }

    @Test func crashes() {
        #expect(judge { ($0.hasStreamEnded, $0.hasSession, $0.isConfirmed) = (true, true, true) } == .lost)
        #expect(judge { $0.isPortalGone = true } == .lost)
        // What fails is the question.
        #expect(judge { ($0.isPortalGone, $0.hasSession) = (true, false) } == .lost)
        #expect(judge { ($0.isCompositorGone, $0.isClosed, $0.hasStreamEnded) = (true, true, true) } == .lost)
    }
}
