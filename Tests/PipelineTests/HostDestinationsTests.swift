import Configuration
import ControlProtocol
import Foundation
import Ingest
import IngestProtocol
import TestSupport
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2))) struct HostDestinationsTests {
    /// What is added must find its place in the memory plan, or it is refused with the number and nothing changes.
    @Test func aDestinationThatDoesNotFitIsRefused() throws {
        let rig = try HostRig { configuration in
            configuration.memory.capBytes = configuration.memoryPlan.totalBytes + 100_000
        }
        let before = rig.host.destinations.configuration
        let error = try #require(throws: CommandRefusal.self) {
            try rig.add("{name: second, url: 'file:/tmp/second.flv'}")
        }
        #expect(error.code == .doesNotFit)
        #expect(error.sentence.contains("\(before.memory.capBytes)") && error.sentence.contains("second"))
        #expect(rig.host.destinations.configuration == before)
        #expect(rig.host.status.report.destinations.map(\.name) == ["main"])
    }

    /// What would fail when it begins is refused at once, all of it in one sentence a mistake.
    @Test func aDestinationThatCannotBeginIsRefused() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        func refusal(_ text: String) throws -> CommandRefusal {
            try #require(throws: CommandRefusal.self) { try rig.add(text) }
        }
        let folder = try refusal("{name: second, url: 'file:/nowhere/at/all.flv'}")
        #expect(folder.code == .badDestination && folder.sentence.contains("/nowhere/at/all.flv does not exist"))
        let key = try refusal("{name: second, url: 'rtmp://127.0.0.1/live', key_file: /nowhere/key}")
        #expect(key.code == .badDestination && key.sentence.contains("key_file: a request can"), "\(key.sentence)")
        let two = try refusal("{name: second, url: 'file:/tmp/a.flv', sync: often, rotate_bytes: many}")
        #expect(two.sentence.contains("sync") && two.sentence.contains("rotate_bytes") && !two.sentence.contains("\n"))
        #expect(rig.host.status.report.destinations.map(\.name) == ["main"])
    }

    /// Bug: what fails at its beginning in the second broadcast was final, though the first had gone well.
    @Test(arguments: [false, true]) func whatHasWorkedIsTriedAgainInTheNextBroadcast(isAddedAnew: Bool) throws {
        let folder = try TemporaryDirectory("worked")
        try FileManager.default.createDirectory(atPath: folder.file("flv"), withIntermediateDirectories: false)
        let rig = try HostRig { configuration in
            configuration.memory.capBytes = 1 << 30
            configuration.destinations[0].url = .flvFile(path: folder.file("flv") + "/out.flv")
        }
        func state() -> DestinationStatus.State? { rig.host.status.report.destinations.first?.state }
        try rig.start()
        try waitFor("the first broadcast to be recorded") { state() == .live }
        rig.host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        rig.host.joinCloser()
        if isAddedAnew {
            let destination = rig.host.destinations.configuration.destinations[0]
            try rig.host.destinations.remove("main")
            try rig.host.destinations.add(destination)
        }
        try FileManager.default.removeItem(atPath: folder.file("flv"))
        try rig.start()
        try waitFor("the second to fail") { [.reconnecting, .failed].contains(state()) }
        // Whoever adds one anew means it as it is.
        #expect(state() == (isAddedAnew ? .failed : .reconnecting))
        rig.host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        rig.host.joinCloser()
    }

    /// Without a broadcast the next one begins with what has been added, and without what has been removed.
    @Test func changesLastBeyondABroadcast() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        #expect(try rig.add("{name: second, url: 'file:/tmp/second.flv'}") == "second")
        try rig.host.destinations.remove("main")
        #expect(rig.host.status.report.destinations.map(\.name) == ["second"])
        #expect(rig.host.destinations.configuration.destinations.map(\.name) == ["second"])
        #expect(throws: CommandRefusal(code: .notFound, sentence: "there is no destination \"main\"; there is second"))
        {
            try rig.host.destinations.remove("main")
        }
    }
}
