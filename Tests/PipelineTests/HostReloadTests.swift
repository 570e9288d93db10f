import ControlProtocol
import Configuration
import Testing

@testable import Pipeline

/// Promise: a reload brings the destinations to what the file says now, leaves alone what was done by command, and says
/// what it cannot do.
@Suite struct HostReloadTests {
    private func destination(_ name: String, _ port: Int, adaptive: Bool = true) throws -> DestinationConfiguration {
        var destination = DestinationConfiguration()
        destination.name = name
        destination.url = try DestinationURL("rtmp://127.0.0.1:\(port)/\(name)")
        destination.keyEnvironment = "KEY"
        destination.adaptive = adaptive
        return destination
    }

    private func names(_ rig: HostRig) -> [String] { rig.host.destinations.all.map(\.name).sorted() }

    @Test func destinationsComeAndGo() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        var new = rig.host.configuration
        new.destinations.append(try destination("backup", rig.port))
        var report = try rig.host.reloader.reload(new)
        #expect(report.applied == ["destination backup added as it is written now"] && report.failed.isEmpty)
        #expect(names(rig) == ["backup", "main"])
        report = try rig.host.reloader.reload(new)
        #expect(report == ReloadReport(), "the same again is no change")
        new.destinations.removeLast()
        report = try rig.host.reloader.reload(new)
        #expect(report.applied == ["destination backup removed"])
        #expect(names(rig) == ["main"])
    }

    @Test func whatWasDoneByCommandStays() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        _ = try rig.add(#"{"name": "extra", "url": "rtmp://127.0.0.1:\#(rig.port)/extra", "key": "k"}"#)
        var new = rig.host.configuration
        new.destinations.append(try destination("backup", rig.port))
        _ = try rig.host.reloader.reload(new)
        #expect(names(rig) == ["backup", "extra", "main"])
        try rig.host.destinations.remove("main")
        _ = try rig.host.reloader.reload(new)
        #expect(names(rig) == ["backup", "extra"], "the file says of main what it said before")
        new.destinations[0].adaptive = false
        _ = try rig.host.reloader.reload(new)
        #expect(names(rig) == ["backup", "extra", "main"], "and now something else")
    }

    @Test func aChangedDestinationIsReplaced() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        var new = rig.host.configuration
        new.destinations[0].adaptive = false
        #expect(try rig.host.reloader.reload(new).applied == ["destination main added as it is written now"])
        #expect(rig.host.destinations.configuration.destinations.map(\.adaptive) == [false])
        #expect(!rig.host.reloader.isReloading)
    }

    @Test func otherKeysWaitForARestart() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        var new = rig.host.configuration
        new.video.width = 640
        new.ingest.socket = "/run/elsewhere.sock"
        #expect(try rig.host.reloader.reload(new).needRestart == ["ingest.socket", "video.width"])
        // Each reload says so, until it has been restarted, or is as it was.
        #expect(try rig.host.reloader.reload(new).needRestart == ["ingest.socket", "video.width"])
        #expect(try rig.host.reloader.reload(rig.host.configuration).needRestart.isEmpty)
    }

    /// A lower bitrate is in force at once, and is what an operator's "auto" means from then on; a higher one than
    /// memory was planned for is, until the restart, the one of the start.
    @Test func bitrates() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        let started = rig.host.configuration.video.bitrate
        var new = rig.host.configuration
        new.video.bitrate = started / 2
        new.log.level = .error
        #expect(try rig.host.reloader.reload(new).applied == ["video.bitrate_kbps \(started / 2000)"])
        #expect(rig.host.shownConfiguration.video.bitrate == started / 2)
        #expect(rig.host.shownConfiguration.log.level == .error)
        #expect(rig.host.configuration.video.bitrate == started, "what memory was planned for stays")
        try rig.host.operating.setBitrateCeiling(started / 4)
        try rig.host.operating.setBitrateCeiling(nil)
        #expect(rig.host.operating.configuredBitrate == started / 2)
        new.video.bitrate = started * 2
        let report = try rig.host.reloader.reload(new)
        #expect(report.applied.isEmpty && report.needRestart.contains("video.bitrate_kbps"))
        #expect(rig.host.shownConfiguration.video.bitrate == started)
        new.video.bitrate = started
        #expect(!(try rig.host.reloader.reload(new).needRestart.contains("video.bitrate_kbps")))
    }

    @Test func whatDoesNotFitChangesNothing() throws {
        let rig = try HostRig { $0.memory.capBytes = 1 << 30 }
        var new = rig.host.configuration
        new.destinations = try (0..<8).map { try destination("d\($0)", rig.port) }
        new.destinations[0].name = "main"
        _ = try rig.add(#"{"name": "extra", "url": "rtmp://127.0.0.1:\#(rig.port)/extra", "key": "k"}"#)
        #expect(throws: CommandRefusal.self) { try rig.host.reloader.reload(new) }
        #expect(names(rig) == ["extra", "main"])
    }
}
