internal import LinuxSystem
internal import MediaCore

/// What the ingest thread may still do before mail, deadlines and other descriptors get their turn.
///
/// Bytes are those that are received, and those that are converted where they lie in shared memory. Time is bounded as
/// well: bytes cost more in one format than in another, and some messages cost much and have few.
struct IngestTurn {
    /// Two 1080p NV12 frames.
    static let bytes = 6 * 1024 * 1024
    /// With what is under way when it is over (a band, a memory that is mapped), a turn takes less than 50 ms.
    static let time = MediaTime.milliseconds(25)

    private let clock: any TimeSource
    private let end: MediaTime
    private var bytesLeft = Self.bytes

    init(_ clock: any TimeSource) {
        self.clock = clock
        end = clock.now() + Self.time
    }

    mutating func spend(_ bytes: Int) { bytesLeft -= bytes }

    var isOver: Bool { bytesLeft <= 0 || clock.now() >= end }
}
