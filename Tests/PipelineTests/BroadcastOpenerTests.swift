import Configuration
import ControlProtocol
import IngestProtocol
import LinuxSystem
import Logging
import MediaCore
import Privacy
import TestSupport
import Testing

@testable import Pipeline

/// Promise: a broadcast gets the daemon's curtain, what it does without is logged, and a broadcast that cannot start
/// says why to the client and in the log.
@Suite struct BroadcastOpenerTests {
    private static let started = StartedMessage(clientName: "test", convention: .exif)

    private static func opener(_ rig: PartsRig) -> BroadcastOpener {
        let log = rig.log
        return BroadcastOpener(
            destinations: rig.roster, privacy: rig.privacy, watch: rig.watch, clock: rig.clock,
            logger: Logger(label: "test") { _ in log }, freeze: nil)
    }

    @Test func itHidesWhatTheDaemonHides() async throws {
        try await blocking {
            let rig = try PartsRig { $0.destinations = [] }
            let broadcast = try Self.opener(rig).open(Self.started)
            defer { _ = broadcast.close(deadline: rig.clock.now()) }
            #expect(rig.log.lines.isEmpty, "\(rig.log.lines)")
            #expect(broadcast.curtain === rig.privacy.curtain)
        }
    }

    /// A curtain without its picture hides as well, so the broadcast starts.
    @Test func aMissingCurtainPictureIsLogged() async throws {
        try await blocking {
            let rig = try PartsRig {
                $0.destinations = []
                ($0.privacy.curtainStyle, $0.privacy.curtainPicture) = (.picture, "/nonexistent/curtain.png")
            }
            let broadcast = try Self.opener(rig).open(Self.started)
            #expect(broadcast.close(deadline: rig.clock.now()))
            let line = try #require(rig.log.lines.first)
            #expect(line.level == .warning && line.metadata["event"] == "no_picture_for_the_curtain", "\(line)")
            #expect(line.metadata.values.contains { $0.contains("/nonexistent/curtain.png") }, "\(line)")
        }
    }

    @Test func aBroadcastThatCannotStartSaysWhy() async throws {
        try await blocking {
            let rig = try PartsRig { $0.video.encoder = "libnothing" }
            let error = try #require(
                #expect(throws: ProtocolError.self) { _ = try Self.opener(rig).open(Self.started) })
            #expect(error.code == .broadcastFailed && error.isFatal)
            #expect(error.message.hasPrefix("the broadcast cannot start: ") && error.message.contains("libnothing"))
            #expect(rig.log.lines.map { $0.metadata["event"] } == ["broadcast_not_started"])
            #expect(rig.log.lines[0].level == .error && "\(rig.log.lines[0])".contains("libnothing"))
        }
    }
}
