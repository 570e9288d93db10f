internal import LinuxSystem
internal import MediaCore

/// The work that the ingest thread may do before it handles mail, deadlines and other descriptors.
///
/// The turn limits received bytes and bytes converted in shared memory. It also limits time, because the cost per byte
/// depends on the format, and some short messages are expensive.
struct IngestTurn {
    /// Two 1080p NV12 frames.
    static let bytes = 6 * 1024 * 1024
    /// With the operation in progress at its end (a band, a mapping), a turn takes less than 50 ms.
    static let time = MediaTime.milliseconds(25)

    private let clock: any TimeSource
    private let end: MediaTime
    private var bytesLeft = Self.bytes

    init(_ clock: any TimeSource) {
        self.clock = clock
        end = clock.now() + Self.time
    }

    mutating func spend(_ bytes: Int) { bytesLeft -= bytes }

    /// The turn that begins a broadcast takes longer. It opens the encoders (53 ms at 720p), and may wait for the end
    /// of the previous broadcast, and for the curtain's picture.
    var isOver: Bool { bytesLeft <= 0 || clock.now() >= end }
}
