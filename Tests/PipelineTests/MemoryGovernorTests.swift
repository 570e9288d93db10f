import ControlProtocol
import LinuxSystem
import MediaCore
import Testing

@testable import Pipeline

@Suite struct MemoryGovernorTests {
    private static let limit = 32_000_000  // of which 1,000,000 must stay free
    private static let steps: [(step: MemoryStep, savedBytes: Int)] = [
        (.halfLog, 2_000_000), (.leastLog, 1_000_000), (.twoPictures, 0), (.noSubpixelMotion, 6_000_000),
    ]

    private static func room(left: Int) -> MemoryRoom {
        MemoryRoom(MemoryGroup.Usage(limit: limit, charged: limit - left, files: 0), of: "/test")
    }

    /// Checks every half second for `seconds`. Returns the moves with their times.
    private static func watch(
        _ governor: inout MemoryGovernor, left: Int, from start: Double, seconds: Double
    ) -> [(at: Double, move: MemoryGovernor.Move)] {
        var moves: [(at: Double, move: MemoryGovernor.Move)] = []
        for half in 0..<Int(seconds * 2) {
            let at = start + Double(half) / 2
            let move = governor.look(room(left: left), at: .milliseconds(Int64(at * 1000)))
            if let move { moves.append((at, move)) }
        }
        return moves
    }

    /// The metrics know the names of the steps, but not the governor.
    @Test func theStepsAreThoseOfTheReport() {
        #expect(MemoryStep.allCases.map(\.rawValue) == StatusReport.memorySteps)
    }

    @Test func stepsDownInOrderWhileTooLittleIsLeft() {
        var governor = MemoryGovernor(steps: Self.steps)
        #expect(Self.watch(&governor, left: 1_000_000, from: 0, seconds: 10).isEmpty)
        let moves = Self.watch(&governor, left: 999_999, from: 10, seconds: 10)
        #expect(moves.map(\.move) == [.giveUp(.halfLog), .giveUp(.leastLog), .giveUp(.noSubpixelMotion)])
        #expect(moves.map(\.at) == [10, 10.5, 11], "what saves nothing is no step")
        #expect(governor.current.map(\.step) == [.halfLog, .leastLog, .noSubpixelMotion])
        #expect(governor.givenUp == 3 && governor.takenBack == 0)
    }

    @Test func stepsUpWhenTheStepFitsForAWhile() {
        var governor = MemoryGovernor(steps: Self.steps)
        _ = Self.watch(&governor, left: 0, from: 0, seconds: 2)
        #expect(Self.watch(&governor, left: 7_900_000, from: 2, seconds: 100).isEmpty, "6 MB would leave too little")
        let up = Self.watch(&governor, left: 8_000_000, from: 102, seconds: 70)
        #expect(up.map(\.move) == [.takeBack(.noSubpixelMotion), .takeBack(.leastLog)])
        #expect(up.map(\.at) == [132, 162.5])
        // One check at which it does not fit restarts the wait.
        _ = Self.watch(&governor, left: 3_999_999, from: 172, seconds: 0.5)
        #expect(Self.watch(&governor, left: 4_000_000, from: 172.5, seconds: 40).map(\.at) == [202.5])
        #expect(governor.current.isEmpty && governor.takenBack == 3)
    }

    /// The wait doubles, up to ten minutes, for a step that must soon be given up again. After a step that has lasted,
    /// the wait is half a minute again.
    @Test func patienceGrowsWithMistakes() {
        var governor = MemoryGovernor(steps: [(.halfLog, 1_000_000)])
        var (now, waits) = (0.0, [Double]())
        for _ in 0..<7 {
            _ = Self.watch(&governor, left: 0, from: now, seconds: 1)
            let up = Self.watch(&governor, left: 10_000_000, from: now + 1, seconds: 700)
            waits.append((up.first?.at ?? 0) - now - 1)
            now = up.first.map { $0.at + 1 } ?? 0
        }
        #expect(waits == [30, 60, 120, 240, 480, 600, 600])
        _ = Self.watch(&governor, left: 0, from: now + 1000, seconds: 1)
        #expect(Self.watch(&governor, left: 10_000_000, from: now + 1001, seconds: 40).map(\.at) == [now + 1031])
    }

    @Test func whatIsNeeded() {
        let group = MemoryRoom(MemoryGroup.Usage(limit: 50_000_000, charged: 48_000_000, files: 10_000_000), of: "/g")
        #expect(group.needed == 42_000_000, "files go, but for the code in use")
        let few = MemoryRoom(MemoryGroup.Usage(limit: 50_000_000, charged: 48_000_000, files: 1_000_000), of: "/g")
        #expect(few.needed == 48_000_000)
        var memory = ProcessMemory()
        (memory.anonymous, memory.mappedFiles) = (30_000_000, 12_000_000)
        #expect(MemoryRoom(memory, cap: 50_000_000).left == 16_000_000)
    }
}
