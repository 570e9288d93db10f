import Buffering
import Configuration
import ControlProtocol
import IngestProtocol
import LinuxSystem
import MediaCore
import Publishing
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// Destinations that are added and removed while no broadcast runs.
@Suite(.endsWithin(120)) struct DestinationRosterTests {
    /// A new destination must fit into the memory plan. Otherwise it is refused with the number, and nothing changes.
    @Test func aDestinationThatDoesNotFitIsRefused() throws {
        let rig = try PartsRig { configuration in
            configuration.memory.capBytes = configuration.memoryPlan.totalBytes + 100_000
        }
        let before = rig.roster.configuration
        let error = try #require(throws: CommandRefusal.self) {
            try rig.add("{name: second, url: 'file:/tmp/second.flv'}")
        }
        #expect(error.code == .doesNotFit)
        #expect(error.sentence.contains("\(before.memory.capBytes)") && error.sentence.contains("second"))
        #expect(rig.roster.configuration == before)
        #expect(rig.status.report.destinations.map(\.name) == ["main"])
    }

    /// Settings that would fail at the start are refused at once, with one sentence for each mistake.
    @Test func aDestinationThatCannotBeginIsRefused() throws {
        let rig = try PartsRig()
        func refusal(_ text: String) throws -> CommandRefusal {
            try #require(throws: CommandRefusal.self) { try rig.add(text) }
        }
        let folder = try refusal("{name: second, url: 'file:/nowhere/at/all.flv'}")
        #expect(folder.code == .badDestination && folder.sentence.contains("/nowhere/at/all.flv does not exist"))
        let key = try refusal("{name: second, url: 'rtmp://127.0.0.1/live', key_file: /nowhere/key}")
        #expect(key.code == .badDestination && key.sentence.contains("key_file: a request can"), "\(key.sentence)")
        let two = try refusal("{name: second, url: 'file:/tmp/a.flv', sync: often, rotate_bytes: many}")
        #expect(two.sentence.contains("sync") && two.sentence.contains("rotate_bytes") && !two.sentence.contains("\n"))
        #expect(rig.status.report.destinations.map(\.name) == ["main"])
    }

    /// The next broadcast begins with added destinations, and without removed ones.
    @Test func changesLastBeyondABroadcast() throws {
        let rig = try PartsRig()
        #expect(try rig.add("{name: second, url: 'file:/tmp/second.flv'}") == "second")
        try rig.roster.remove("main")
        #expect(rig.status.report.destinations.map(\.name) == ["second"])
        #expect(rig.roster.configuration.destinations.map(\.name) == ["second"])
        #expect(throws: CommandRefusal(code: .notFound, sentence: "there is no destination \"main\"; there is second"))
        {
            try rig.roster.remove("main")
        }
    }

    @Test func aNameIsTakenOnce() throws {
        let rig = try PartsRig()
        let again = try PartsRig.destination("main")
        let error = try #require(throws: CommandRefusal.self) { try rig.roster.add(again) }
        #expect(error.code == .failed && error.sentence.contains("\"main\"") && rig.names == ["main"])
    }

    /// Requests are checked one by one when they come, and added later.
    @Test func thereAreEightAtMost() throws {
        let rig = try PartsRig()
        for number in 2...8 { try rig.roster.add(try PartsRig.destination("d\(number)")) }
        let error = try #require(throws: CommandRefusal.self) {
            try rig.roster.add(try PartsRig.destination("d9"))
        }
        #expect(error.code == .doesNotFit && error.sentence.contains("8 destinations"))
        #expect(rig.names.count == 8)
    }

    @Test func aSourceThatNobodyTakesIsRefused() throws {
        let rig = try PartsRig { configuration in
            configuration.destinations[0].refusedSources = SourceList([.camera])
            if let backup = try? PartsRig.destination("backup") { configuration.destinations.append(backup) }
        }
        try rig.roster.require(accepting: .camera)
        #expect(rig.log.lines.count == 1, "an operator learns who does without")
        try rig.roster.require(accepting: .screen)
        #expect(rig.log.lines.count == 1)
        try rig.roster.remove("backup")
        #expect(throws: ProtocolError.self) { try rig.roster.require(accepting: .camera) }
        // No destination at all is the operator's choice.
        try rig.roster.remove("main")
        try rig.roster.require(accepting: .camera)
    }

    /// Bug: a destination that was removed while a broadcast opened was published to until its end, and one that was
    /// added got nothing.
    @Test func changesDuringTheOpeningReachTheBroadcast() throws {
        let rig = try PartsRig()
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 1 << 20, maxDuration: .seconds(60), maxPackets: 256))
        let set = DestinationSet(log: log, format: .smallest, clock: MonotonicClock()) { _, _ in }
        defer { set.cancel() }
        let opened = rig.roster.beginOpening()
        #expect(opened.destinations.map(\.name) == ["main"])
        for destination in opened.destinations { try set.add(opened.settings(of: destination, environment: [:])) }
        try rig.roster.remove("main")
        try rig.roster.add(try PartsRig.destination("second"))
        try rig.roster.add(try PartsRig.destination("third"))
        try rig.roster.remove("third")
        var camera = try PartsRig.destination("screens")
        camera.refusedSources = SourceList([.camera])
        try rig.roster.add(camera)
        #expect(set.snapshots.map(\.name) == ["main"])
        rig.roster.endOpening(set, of: .camera)
        #expect(set.snapshots.map(\.name) == ["second"])
        #expect(rig.names == ["screens", "second"])
        // Once only.
        rig.roster.endOpening(set, of: .screen)
        #expect(set.snapshots.map(\.name) == ["second"])
    }

    /// The broadcast that opened may know the change already.
    @Test func aChangeThatTheBroadcastKnowsIsHarmless() throws {
        let rig = try PartsRig()
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 1 << 20, maxDuration: .seconds(60), maxPackets: 256))
        let set = DestinationSet(log: log, format: .smallest, clock: MonotonicClock()) { _, _ in }
        defer { set.cancel() }
        _ = rig.roster.beginOpening()
        try rig.roster.remove("main")
        try rig.roster.add(try PartsRig.destination("second"))
        let known = rig.roster.configuration
        for destination in known.destinations { try set.add(known.settings(of: destination, environment: [:])) }
        rig.roster.endOpening(set, of: .screen)
        #expect(set.snapshots.map(\.name) == ["second"])
        // The next broadcast that opens has missed nothing.
        _ = rig.roster.beginOpening()
        rig.roster.endOpening()
        try rig.roster.remove("second")
        rig.roster.endOpening(set, of: .screen)
        #expect(set.snapshots.map(\.name) == ["second"])
    }

    @Test func whatWorkedIsForgottenWithItsDestination() throws {
        let rig = try PartsRig()
        rig.roster.noteWorked("nobody")
        #expect(rig.roster.worked.isEmpty)
        rig.roster.noteWorked("main")
        #expect(rig.roster.worked["main"] == rig.configuration.destinations[0].url)
        try rig.roster.remove("main")
        #expect(rig.roster.worked.isEmpty)
    }
}
