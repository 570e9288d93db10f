import Configuration
import IngestProtocol
import LinuxSystem
import MediaCore
import Privacy
import TestSupport
import Testing

@testable import Pipeline

extension Broadcast {
    /// A broadcast of 320x180 with one destination, a file in `folder`.
    convenience init(
        recordingIn folder: TemporaryDirectory, curtain: Curtain = Curtain(),
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (320, 180)
        var file = DestinationConfiguration()
        file.url = try DestinationURL("file:" + folder.file("out.flv"))
        configuration.destinations = [file]
        change(&configuration)
        try self.init(
            StartedMessage(clientName: "test", convention: .exif), configuration: configuration, environment: [:],
            clock: MonotonicClock(), curtain: curtain, onEvent: { _, _ in }, onBitrate: { _ in }, onEffort: { _ in },
            onFailure: { Issue.record("\($0)") })
    }
}
