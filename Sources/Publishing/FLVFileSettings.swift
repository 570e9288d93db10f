internal import Buffering
package import MediaCore

/// How to record into FLV files.
package struct FLVFileSettings: Sendable, Equatable {
    /// When what was written is forced to the disk, and not left to the kernel.
    package enum FileSync: Sendable, Equatable {
        case never
        case atSegmentEnd
        /// As often, on the monotonic clock, and at the end of each file; what is younger may be lost with the power.
        case every(MediaTime)
    }

    /// Where the path is taken, a number is put into the name: "show.flv", "show-2.flv"; so it goes on with each file.
    /// A pipe or a device is taken as it is, and gets all.
    package var path: String
    /// A new file begins with the first keyframe after as many bytes; nil for no such bound.
    package var rotateBytes: Int?
    /// A new file begins with the first keyframe after as long a time; nil for no such bound.
    package var rotateAfter: MediaTime?
    package var sync = FileSync.never

    package init(path: String) { self.path = path }
}

extension FLVFileSettings: SinkSettings {
    var kindName: String { "flv-file" }
    var location: String { path }
    var cursorPolicy: CursorPolicy { .keepEverything }
    /// A disk that hangs is no fault of the daemon's, and the other destinations go on without it.
    var longestWaits: SinkWaits? { nil }

    func makeFactory(_ context: SinkContext) -> any SinkFactory { FLVFileSinkFactory(self, context) }
}

/// Begins a recording anew with each attempt.
private final class FLVFileSinkFactory: SinkFactory {
    private let settings: FLVFileSettings
    private let context: SinkContext

    let headroom = FLVFileWriter.headroom
    let tailroom = FLVFileWriter.tailroom

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
