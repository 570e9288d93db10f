import Buffering
import LinuxSystem
import MediaCore
import Publishing
import TestSupport
import Testing

@testable import Pipeline

/// Promise: destinations come and go without disturbing the others.
@Suite struct DestinationSetTests {
    private final class Rig {
        let folder: TemporaryDirectory
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 1 << 20, maxDuration: .seconds(60), maxPackets: 256))
        let clock = MonotonicClock()
        let set: DestinationSet
        private let events = Monitor<[(name: String, event: DestinationEvent)]>([])

        init() throws {
            folder = try TemporaryDirectory("set")
            set = DestinationSet(log: log, format: .smallest, clock: clock) { [events] name, event in
                events.withLock { $0.append((name, event)) }
            }
        }

        deinit { set.cancel() }

        /// A file, or one in a folder that does not exist.
        func add(_ name: String, fails: Bool = false, isAdaptedTo: Bool = true) throws {
            let path = folder.file(fails ? "absent/\(name).flv" : "\(name).flv")
            var settings = DestinationSettings(name: name, kind: .flvFile(FLVFileSettings(path: path)))
            settings.isAdaptedTo = isAdaptedTo
            settings.hasWorked = true
            settings.reconnect.firstDelay = .seconds(1000)
            settings.reconnect.longestDelay = .seconds(1000)
            try set.add(settings)
        }

        func wait(_ name: String, for state: DestinationState) throws {
            try waitFor("\(name) to be \(state.rawValue)") { self.state(name) == state }
        }

        func state(_ name: String) -> DestinationState? { set.snapshots.first { $0.name == name }?.state }
        func events(of name: String) -> Int { events.withLock { $0.count { $0.name == name } } }

        func writeKeyframe(at time: MediaTime) {
            log.write(
                PacketInfo(track: .video, pts: time, dts: time, priority: .keyframe),
                payload: [UInt8](repeating: 7, count: 100).span.bytes)
        }
    }

    @Test func oneLeavesAndTheOtherContinues() async throws {
        try await blocking {
            let rig = try Rig()
            try rig.add("a")
            try rig.add("b")
            for name in ["a", "b"] { try rig.wait(name, for: .publishing) }
            rig.set.remove("absent", deadline: rig.clock.now() + .seconds(20))
            rig.set.remove("a", deadline: rig.clock.now() + .seconds(20))
            #expect(rig.set.snapshots.map(\.name) == ["b"])
            try waitFor("a to end") { rig.set.leavingNames.isEmpty }
            rig.writeKeyframe(at: .zero)
            try waitFor("b to get the packet") { rig.set.snapshots.first?.video.packets == 1 }
            // The same name again, on another thread.
            try rig.add("a")
            try rig.wait("a", for: .publishing)
            rig.log.end(at: rig.clock.now())
            #expect(rig.set.close(deadline: rig.clock.now() + .seconds(20)))
            #expect(rig.set.snapshots.map(\.state) == [.stopped, .stopped])
        }
    }

    @Test func aNameIsTakenOnce() throws {
        let rig = try Rig()
        try rig.add("a")
        try rig.add("a")
        #expect(rig.set.snapshots.map(\.name) == ["a"])
    }

    @Test(arguments: ["a", nil]) func aRetryReachesTheOneThatIsMeant(name: String?) async throws {
        try await blocking {
            let rig = try Rig()
            for name in ["a", "b"] {
                try rig.add(name, fails: true)
                try rig.wait(name, for: .reconnecting)
            }
            func attempts() -> [Int] { rig.set.snapshots.map { $0.failures[.file] ?? 0 } }
            #expect(attempts() == [1, 1])
            rig.set.retry("absent")
            // A retry that reached the other one, too, would count there by the second time.
            for count in 2...3 {
                rig.set.retry(name)
                try waitFor("the next failure") {
                    attempts()[0] == count && (name != nil || attempts()[1] == count)
                        && rig.set.snapshots.allSatisfy { $0.nextAttempt != nil }
                }
            }
            #expect(attempts() == (name == nil ? [3, 3] : [3, 1]))
            let figures = rig.set.adviceFigures(at: rig.clock.now())
            #expect((figures.publishing, figures.total, figures.servers) == (0, 2, 0))
            #expect(figures.lost?.contains("absent/") == true && figures.nextAttempt != nil)
        }
    }

    @Test func onlyThoseThatCountSlowTheEncoderDown() async throws {
        try await blocking {
            let rig = try Rig()
            try rig.add("a")
            try rig.add("b", isAdaptedTo: false)
            for name in ["a", "b"] { try rig.wait(name, for: .publishing) }
            var names: [String] = []
            rig.set.forEachLink { name, _ in names.append(name) }
            #expect(names == ["a"])
            #expect(rig.set.contains { $0.name == "b" } && !rig.set.contains { $0.name == "c" })
            #expect(rig.set.takeBack(before: 1, keeping: nil).map(\.name) == ["a", "b"])
        }
    }

    /// A destination that a request adds while the broadcast ends must leave no thread behind.
    @Test func nobodyIsAddedAfterTheEnd() async throws {
        try await blocking {
            let rig = try Rig()
            rig.set.cancel()
            try rig.add("late")
            #expect(rig.set.snapshots.isEmpty && rig.events(of: "late") == 0)
        }
    }
}
