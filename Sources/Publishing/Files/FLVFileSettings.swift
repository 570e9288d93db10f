internal import Buffering
internal import Endpoints
package import MediaCore

package struct FLVFileSettings: Sendable, Equatable {
    /// When written data is forced to the disk.
    package enum FileSync: Sendable, Equatable {
        case never
        case atSegmentEnd
        /// Each period of this length (monotonic clock), and at the end of each file. A power failure may lose newer
        /// data.
        case every(MediaTime)
    }

    /// If the path exists, the name gets a number: "show.flv", "show-2.flv". The numbers continue with each file. A
    /// pipe or device is opened as it is, and gets the whole recording.
    package var path: String
    /// A new file begins with the first keyframe after this many bytes; nil for no limit.
    package var rotateBytes: Int?
    /// A new file begins with the first keyframe after this time; nil for no limit.
    package var rotateAfter: MediaTime?
    package var sync = FileSync.never

    package init(path: String) { self.path = path }
}

extension DestinationSettings.Kind {
    package static func flvFile(_ settings: FLVFileSettings) -> Self { Self(sink: settings) }
}

extension FLVFileSettings: SinkSettings {
    var facts: SinkFacts {
        SinkFacts(
            kind: FLVFileEndpoint.facts.kind,
            location: path,
            cursorPolicy: .keepEverything,
            // Not watched: see `Destination.work`.
            longestWaits: nil,
            headroom: FLVFileWriter.headroom,
            tailroom: FLVFileWriter.tailroom,
            // The kernel buffers bytes that are not on the disk yet, as it does for a connection.
            bufferedBytes: TCPConnector.kernelBytes)
    }

    func makeFactory(_ context: SinkContext) -> any SinkFactory { FLVFileSinkFactory(self, context) }
}

/// Begins a new recording with each attempt.
private final class FLVFileSinkFactory: SinkFactory {
    private let settings: FLVFileSettings
    private let context: SinkContext

    init(_ settings: FLVFileSettings, _ context: SinkContext) {
        self.settings = settings
        self.context = context
    }

    func makeSink() throws(PublishError) -> any PublishingSink {
        FLVFileWriter(
            settings: settings, format: context.format, clock: context.clock, control: context.control)
    }

    func attemptFailed(_ error: PublishError) {}
}
