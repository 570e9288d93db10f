import ControlProtocol
import Configuration
import Testing

@testable import Pipeline

/// Promise: a reload changes the destinations to those of the file, keeps what commands have changed, and reports what
/// it cannot do.
@Suite struct ConfigurationReloaderTests {
    @Test func destinationsComeAndGo() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.destinations.append(try PartsRig.destination("backup"))
        var report = try rig.reloader.reload(new)
        #expect(report.applied == ["destination backup added with its new settings"] && report.failed.isEmpty)
        #expect(rig.names == ["backup", "main"])
        report = try rig.reloader.reload(new)
        #expect(report == ReloadReport(), "the same again is no change")
        new.destinations.removeLast()
        report = try rig.reloader.reload(new)
        #expect(report.applied == ["destination backup removed"])
        #expect(rig.names == ["main"])
    }

    @Test func whatWasDoneByCommandStays() throws {
        let rig = try PartsRig()
        _ = try rig.add(#"{"name": "extra", "url": "rtmp://127.0.0.1/extra", "key": "k"}"#)
        var new = rig.configuration
        new.destinations.append(try PartsRig.destination("backup"))
        _ = try rig.reloader.reload(new)
        #expect(rig.names == ["backup", "extra", "main"])
        try rig.roster.remove("main")
        _ = try rig.reloader.reload(new)
        #expect(rig.names == ["backup", "extra"], "the file says of main what it said before")
        new.destinations[0].adaptive = false
        _ = try rig.reloader.reload(new)
        #expect(rig.names == ["backup", "extra", "main"], "and now something else")
    }

    @Test func aChangedDestinationIsReplaced() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.destinations[0].adaptive = false
        #expect(try rig.reloader.reload(new).applied == ["destination main added with its new settings"])
        #expect(rig.roster.configuration.destinations.map(\.adaptive) == [false])
        #expect(!rig.reloader.isReloading)
    }

    @Test func otherKeysWaitForARestart() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.video.width = 640
        new.ingest.socket = "/run/elsewhere.sock"
        #expect(try rig.reloader.reload(new).needRestart == ["ingest.socket", "video.width"])
        // Each reload reports them until the restart, or until the file has the old values again.
        #expect(try rig.reloader.reload(new).needRestart == ["ingest.socket", "video.width"])
        #expect(try rig.reloader.reload(rig.configuration).needRestart.isEmpty)
    }

    /// A lower bitrate is in force at once, and becomes the meaning of an operator's "auto". A bitrate above the
    /// planned one has the effect of the start's bitrate until the restart.
    @Test func bitrates() throws {
        let rig = try PartsRig()
        let started = rig.configuration.video.bitrate
        var new = rig.configuration
        new.video.bitrate = started / 2
        new.log.level = .error
        #expect(try rig.reloader.reload(new).applied == ["video.bitrate_kbps \(started / 2000)"])
        #expect(rig.reloader.inForce.video.bitrate == started / 2)
        #expect(rig.reloader.inForce.log.level == .error)
        #expect(rig.configuration.video.bitrate == started, "what memory was planned for stays")
        try rig.operating.setBitrateCeiling(started / 4)
        try rig.operating.setBitrateCeiling(nil)
        #expect(rig.operating.configuredBitrate == started / 2)
        new.video.bitrate = started * 2
        let report = try rig.reloader.reload(new)
        #expect(report.applied.isEmpty && report.needRestart.contains("video.bitrate_kbps"))
        #expect(rig.reloader.inForce.video.bitrate == started)
        new.video.bitrate = started
        #expect(!(try rig.reloader.reload(new).needRestart.contains("video.bitrate_kbps")))
    }

    @Test func whatDoesNotFitChangesNothing() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.destinations = try (0..<8).map { try PartsRig.destination("d\($0)") }
        new.destinations[0].name = "main"
        _ = try rig.add(#"{"name": "extra", "url": "rtmp://127.0.0.1/extra", "key": "k"}"#)
        #expect(throws: CommandRefusal.self) { try rig.reloader.reload(new) }
        #expect(rig.names == ["extra", "main"])
    }
}
