import Configuration
import ControlProtocol
import Foundation
import Ingest
import IngestProtocol
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

@Suite(.endsWithin(120)) struct HostDestinationsTests {
    /// Bug: a failure at the start of the second broadcast was final, although the first one had worked.
    @Test(arguments: [false, true]) func whatHasWorkedIsTriedAgainInTheNextBroadcast(isAddedAnew: Bool) throws {
        let folder = try TemporaryDirectory("worked")
        try FileManager.default.createDirectory(atPath: folder.file("flv"), withIntermediateDirectories: false)
        let file = try DestinationURL("file:\(folder.file("flv"))/out.flv")
        let rig = try HostRig { configuration in
            configuration.memory.capBytes = 1 << 30
            configuration.destinations[0].url = file
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
        // A destination that is added again has not worked yet.
        #expect(state() == (isAddedAnew ? .failed : .reconnecting))
        rig.host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        rig.host.joinCloser()
    }
}
