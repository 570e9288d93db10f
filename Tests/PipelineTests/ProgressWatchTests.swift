import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Pipeline

/// Promise: a thread that hangs is found in time, and a waiting thread is never mistaken for one.
@Suite struct ProgressWatchTests {
    /// A watch that checks every half second.
    private struct Looking {
        var watch = ProgressWatch(patience: .seconds(2))
        var now = MediaTime.seconds(1000)
        let marks: [WorkMark]

        init(_ marks: WorkMark...) { self.marks = marks }

        mutating func look(after step: MediaTime = .milliseconds(500)) -> ProgressWatch.Stuck? {
            now += step
            watch.begin(at: now)
            for mark in marks { watch.look(at: mark) }
            return watch.stuck
        }
    }

    @Test func aThreadThatDoesNotComeBack() {
        let mark = WorkMark("the video thread")
        var looking = Looking(mark)
        mark.begin()
        // First seen at half a second. Two seconds later, the thread has been in the piece for at least two.
        for _ in 0..<4 { #expect(looking.look() == nil) }
        #expect(looking.look() == .init(name: "the video thread", since: .seconds(2), limit: .seconds(2)))
        mark.begin()
        #expect(looking.look() == nil, "another piece of work")
    }

    @Test func aThreadThatWaits() {
        let mark = WorkMark("the video thread")
        var looking = Looking(mark)
        mark.begin()
        _ = looking.look()
        mark.end()
        for _ in 0..<1000 { #expect(looking.look() == nil) }
    }

    /// A thread that works at every check, but always on another piece.
    @Test func aBusyThread() {
        let mark = WorkMark("the video thread")
        var looking = Looking(mark)
        for _ in 0..<1000 {
            mark.begin()
            #expect(looking.look() == nil)
        }
    }

    /// A sender that waits for a slow network has its own deadlines. If it exceeds them, it hangs.
    @Test func deadlinesOfItsOwn() {
        let mark = WorkMark("the sender")
        var looking = Looking(mark)
        mark.begin(allowing: .seconds(20))
        for _ in 0..<44 { #expect(looking.look() == nil) }
        #expect(looking.look() == .init(name: "the sender", since: .seconds(22), limit: .seconds(22)))
    }

    /// The whole process was stopped, or the machine slept. That time does not count.
    @Test func aPauseOfEverything() {
        let mark = WorkMark("the video thread")
        var looking = Looking(mark)
        mark.begin()
        #expect(looking.look() == nil)
        #expect(looking.look(after: .seconds(3600)) == nil)
        #expect(looking.look() == nil)
        #expect(looking.look() != nil)
    }

    @Test func theOneThatHasBeenStuckLongest() {
        let (first, second) = (WorkMark("first"), WorkMark("second"))
        var looking = Looking(second, first)
        first.begin()
        _ = looking.look()
        second.begin()
        for _ in 0..<5 { _ = looking.look() }
        #expect(looking.look()?.name == "first")
    }

    // MARK: In the host

    @Test func theHostSaysWhatHangs() throws {
        let rig = try HostRig()
        rig.host.threads.setPatience(.seconds(2))
        #expect(rig.host.threads.look() == nil)
        #expect(rig.host.threads.wedged == nil)
        // The main thread hangs.
        rig.clock.advance(by: .seconds(2))
        #expect(rig.host.threads.wedged?.contains("main thread") == true)
        #expect(rig.host.threads.look() == nil)
        #expect(rig.host.threads.wedged == nil)
        // While the daemon stops, the main thread waits for the others and is not watched.
        rig.host.noteStopping()
        rig.clock.advance(by: .seconds(60))
        #expect(rig.host.threads.wedged == nil)
    }

    @Test func freezeIsRefusedWhereItMeansNothing() throws {
        #expect(try TestFreeze(environment: [:]) == nil)
        #expect(try TestFreeze(environment: [TestFreeze.variable: ""]) == nil)
        #expect(try TestFreeze(environment: [TestFreeze.variable: "encoder:30"])?.encoderFrames == 30)
        for text in ["encoder", "encoder:", "encoder:-1", "encoder:x", "decoder:3", "encoder:3:4", "3"] {
            #expect(throws: TestFreeze.Invalid.self, "\(text)") {
                try TestFreeze(environment: [TestFreeze.variable: text])
            }
        }
    }
}
