internal import Encoding
internal import LinuxSystem
internal import MediaCore
internal import Painting
internal import Privacy
internal import Synchronization

/// Small JPEG snapshots of the encoded picture. Without a request, the cost is one check of a flag.
///
/// On request the video thread makes a small copy. The requesting thread encodes the file and holds no lock
/// meanwhile, so a raise of the curtain (`forget`) never waits for the JPEG encoder. The copy is what viewers get:
/// everything hidden has already been removed.
final class SnapshotBooth: Sendable {
    /// One picture per interval: requests in between get the same one.
    private static let interval = MediaTime.seconds(1)

    private struct State {
        var thumbnail: Thumbnail?
        /// Whether a thread encodes the copy. Nothing overwrites it meanwhile.
        var isEncoding = false
        /// When the copy was made; nil before the first.
        var takenAt: MediaTime?
        var file: (bytes: [UInt8], takenAt: MediaTime)?
        /// Pictures of earlier epochs are not shown any more.
        var epoch: CurtainEpoch = .first
        /// Pictures that hide an earlier version of the standing regions are not shown any more.
        var regions: RegionsVersion = .first
    }

    private let canvas: CanvasFormat
    private let size: Int
    private let clock: any TimeSource
    private let encode: @Sendable (PicturePlanes) throws(EncodingError) -> [UInt8]
    private let wanted = Atomic(false)
    private let state = Monitor(State())

    /// - Parameters:
    ///   - size: pixels of the longer side.
    ///   - encode: encodes a copy as a file.
    init(
        _ canvas: CanvasFormat, size: Int, clock: any TimeSource,
        encode: @escaping @Sendable (PicturePlanes) throws(EncodingError) -> [UInt8] = {
            planes throws(EncodingError) in try JPEG.encode(planes)
        }
    ) {
        self.encode = encode
        self.canvas = canvas
        self.size = size
        self.clock = clock
    }

    /// The memory in bytes while snapshots are requested.
    static func memoryBytes(_ canvas: CanvasFormat, size: Int) -> Int {
        guard size > 0 else { return 0 }
        let (width, height) = Thumbnail.size(of: canvas, longest: size)
        return Thumbnail.memoryBytes(of: canvas, longest: size) + JPEG.estimatedBytes(width: width, height: height)
    }

    /// Any thread: drops snapshots from before this epoch.
    func forget(before epoch: CurtainEpoch) {
        state.withLock { state in
            state.epoch = epoch
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Any thread: drops snapshots from before this version of the standing regions.
    func forget(beforeRegions version: RegionsVersion) {
        state.withLock { state in
            state.regions = version
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Copies the picture if a snapshot was requested. Video thread, after each frame.
    ///
    /// - Parameter regions: the version of the standing regions that the picture hides.
    func pass(_ picture: Picture, epoch: CurtainEpoch, regions: RegionsVersion) {
        guard wanted.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard epoch >= state.epoch, regions >= state.regions, !state.isEncoding else { return }
            wanted.store(false, ordering: .relaxed)
            let thumbnail = state.thumbnail ?? Thumbnail(of: canvas, longest: size)
            thumbnail.take(picture.planes)
            state.thumbnail = thumbnail
            state.takenAt = clock.now()
        }
    }

    /// Any thread: a file that is no older than the interval. Returns nil if there is none, and requests one.
    func file() throws(EncodingError) -> [UInt8]? {
        let now = clock.now()
        let copy = state.withLock { state -> Copy? in
            guard let takenAt = state.takenAt, now - takenAt < Self.interval, let thumbnail = state.thumbnail else {
                return nil
            }
            if let file = state.file, file.takenAt == takenAt { return .file(file.bytes) }
            // Another thread already encodes this file.
            guard !state.isEncoding else { return nil }
            state.isEncoding = true
            return .thumbnail(thumbnail, epoch: state.epoch, regions: state.regions, takenAt)
        }
        switch copy {
        case nil:
            wanted.store(true, ordering: .relaxed)
            return nil
        case .file(let bytes): return bytes
        case .thumbnail(let thumbnail, let epoch, let regions, let takenAt):
            defer { state.withLock { $0.isEncoding = false } }
            let bytes = try encode(thumbnail.picture.planes)
            // A file that became obsolete meanwhile is not returned.
            return state.withLock { state in
                guard state.epoch == epoch, state.regions == regions else { return nil }
                state.file = (bytes, takenAt)
                return bytes
            }
        }
    }

    private enum Copy {
        case file([UInt8])
        case thumbnail(Thumbnail, epoch: CurtainEpoch, regions: RegionsVersion, MediaTime)
    }

    /// The newest file, whatever its age.
    var lastFile: [UInt8]? { state.withLock { $0.file?.bytes } }
}
