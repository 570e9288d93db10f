import Configuration
import ControlProtocol
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2))) struct HostDestinationsTests {
    /// What is added must find its place in the memory plan, or it is refused with the number and nothing changes.
    @Test func aDestinationThatDoesNotFitIsRefused() throws {
        let rig = try HostRig { configuration in
            configuration.memory.capBytes = configuration.memoryPlan.totalBytes + 100_000
        }
        let before = rig.host.currentConfiguration
        let error = try #require(throws: CommandRefusal.self) {
            try rig.host.addDestination(Array("{name: second, url: 'file:/tmp/second.flv'}".utf8))
        }
        #expect(error.code == .doesNotFit)
        #expect(error.sentence.contains("\(before.memory.capBytes)") && error.sentence.contains("second"))
        #expect(rig.host.currentConfiguration == before)
        #expect(rig.host.status.destinations.map(\.name) == ["main"])
    }

    /// Without a broadcast the next one begins with what has been added, and without what has been removed.
    @Test func changesLastBeyondABroadcast() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        #expect(try rig.host.addDestination(Array("{name: second, url: 'file:/tmp/second.flv'}".utf8)) == "second")
        try rig.host.removeDestination("main")
        #expect(rig.host.status.destinations.map(\.name) == ["second"])
        #expect(rig.host.currentConfiguration.destinations.map(\.name) == ["second"])
        #expect(throws: CommandRefusal(code: .notFound, sentence: "there is no destination \"main\"; there is second"))
        {
            try rig.host.removeDestination("main")
        }
    }
}
