import Configuration
import ControlProtocol
import LinuxSystem
import MediaCore
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

    /// Bug: the next reload found nothing to do, and the destination was missing until its settings changed.
    @Test func aDestinationThatCannotBeAddedIsTriedAgain() throws {
        let rig = try PartsRig()
        let others = try (1...8).map { try PartsRig.destination("d\($0)") }
        // What commands add between the removal and the addition leaves no place.
        rig.log.onLine = { [roster = rig.roster] line in
            guard line.message == "destination removed" else { return }
            for other in others { try? roster.add(other) }
        }
        var new = rig.configuration
        new.destinations[0].adaptive = false
        let report = try rig.reloader.reload(new)
        rig.log.onLine = nil
        #expect(report.failed.count == 1 && rig.names == others.map(\.name), "\(report)")
        try rig.roster.remove("d1")
        #expect(try rig.reloader.reload(new).applied == ["destination main added with its new settings"])
        #expect(rig.names.contains("main"))
    }

    /// Servers refuse two publishers of one stream: the new one waits until the old one has left.
    @Test func aDestinationThatChangesWhileABroadcastOpens() throws {
        let rig = try PartsRig()
        _ = rig.roster.beginOpening()
        var new = rig.configuration
        new.destinations[0].adaptive = false
        #expect(try rig.reloader.reload(new).applied.isEmpty)
        #expect(rig.names.isEmpty && rig.reloader.isReloading)
        rig.roster.endOpening()
        #expect(rig.reloader.goOn().applied == ["destination main added with its new settings"])
        #expect(rig.names == ["main"] && !rig.reloader.isReloading)
    }

    @Test func aChangedDestinationIsReplaced() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.destinations[0].adaptive = false
        #expect(try rig.reloader.reload(new).applied == ["destination main added with its new settings"])
        #expect(rig.roster.configuration.destinations.map(\.adaptive) == [false])
        #expect(!rig.reloader.isReloading)
    }

    /// A broadcast runs from now on.
    private func begin(_ rig: PartsRig) {
        rig.current.state.withLock { $0.lifecycle = .starting(Lifecycle.Attempt(number: 1)) }
    }

    @Test func keysOfTheSocketsWaitForARestart() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.ingest.socket = "/run/elsewhere.sock"
        #expect(try rig.reloader.reload(new).needRestart == ["ingest.socket"])
        // Each reload reports them until the restart, or until the file has the old values again.
        #expect(try rig.reloader.reload(new).needRestart == ["ingest.socket"])
        #expect(try rig.reloader.reload(rig.configuration).isEmpty)
    }

    @Test func canvasAndEncoderChangeWithTheNextBroadcast() throws {
        let rig = try PartsRig()
        begin(rig)
        var new = rig.configuration
        new.video.width = 640
        new.audio.bitrate = 96_000
        let waiting = ["video.width", "audio.bitrate_kbps"]
        #expect(try rig.reloader.reload(new).nextBroadcast == waiting)
        #expect(try rig.reloader.reload(new).nextBroadcast == waiting)
        #expect(rig.roster.configuration.video.width == 320, "a broadcast has one canvas")
        rig.roster.beginNext()
        #expect(rig.roster.configuration.video.width == 640 && rig.roster.configuration.audio.bitrate == 96_000)
        #expect(try rig.reloader.reload(new).isEmpty)
    }

    @Test func withoutABroadcastTheyChangeAtOnce() throws {
        let rig = try PartsRig()
        var new = rig.configuration
        new.video.width = 640
        let report = try rig.reloader.reload(new)
        #expect(report.applied == ["video.width 640"] && report.nextBroadcast.isEmpty && report.needRestart.isEmpty)
        #expect(rig.roster.configuration.video.width == 640 && rig.status.report.video.width == 640)
    }

    /// What a reload takes back before the next broadcast does not come with it.
    @Test func theLastFileCounts() throws {
        let rig = try PartsRig()
        begin(rig)
        var new = rig.configuration
        new.video.width = 640
        _ = try rig.reloader.reload(new)
        #expect(try rig.reloader.reload(rig.configuration).isEmpty)
        rig.roster.beginNext()
        #expect(rig.roster.configuration.video.width == 320)
    }

    @Test func liveKeysChangeDuringABroadcast() throws {
        let rig = try PartsRig()
        begin(rig)
        var new = rig.configuration
        new.audio.appGainDecibels = -6
        new.stop.drain = .milliseconds(1234)
        new.privacy.curtainText = "back soon"
        new.privacy.curtainPicture = "/not/used.png"
        let report = try rig.reloader.reload(new)
        #expect(report.applied.contains("privacy.curtain_text \"back soon\""), "\(report)")
        #expect(report.applied.count == 3 && report.nextBroadcast == ["privacy.curtain_picture"], "\(report)")
        let inForce = rig.roster.configuration
        #expect(inForce.audio.appGainDecibels == -6 && inForce.stop.drain == .milliseconds(1234))
        #expect(inForce.privacy.curtainText == "back soon" && inForce.privacy.curtainPicture == nil)
    }

    /// A curtain with a picture is decoded before the encoder is opened.
    @Test func aPictureComesWithTheNextBroadcast() throws {
        let rig = try PartsRig()
        begin(rig)
        var new = rig.configuration
        new.privacy.curtainStyle = .picture
        new.privacy.curtainPicture = "/some.png"
        #expect(
            try rig.reloader.reload(new).nextBroadcast == ["privacy.curtain_style", "privacy.curtain_picture"])
        #expect(rig.roster.configuration.privacy.curtainStyle == .solid)
        rig.roster.beginNext()
        #expect(rig.roster.configuration.privacy.curtainStyle == .picture)
    }

    /// A lower bitrate is in force at once, and becomes the meaning of an operator's "auto". A bitrate above the
    /// planned one has the effect of the planned one until the next broadcast.
    @Test func bitrates() throws {
        let rig = try PartsRig()
        begin(rig)
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
        #expect(report.applied.isEmpty && report.nextBroadcast == ["video.bitrate_kbps"], "\(report)")
        #expect(rig.reloader.inForce.video.bitrate == started)
        rig.roster.beginNext()
        rig.operating.beginNext()
        #expect(rig.operating.configuredBitrate == started * 2 && rig.operating.bitrateCeiling == nil)
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
