internal import Encoding
internal import LinuxSystem
internal import MediaCore
internal import Painting
internal import Privacy
internal import Synchronization

/// Small JPEG pictures of what is encoded, for whoever asks; where nobody does it costs a look at a flag.
///
/// The video thread makes a small copy when one is wanted; the file is made by the thread that asks, which holds no
/// lock meanwhile: whoever raises the curtain (`forget`) waits for no encoder. What is copied is what viewers get:
/// everything that must not be shown has been taken out before.
final class SnapshotBooth: Sendable {
    /// One picture in so much time: askers between get the same again.
    private static let interval = MediaTime.seconds(1)

    private struct State {
        var thumbnail: Thumbnail?
        /// A thread makes a file of the copy, which nobody writes to meanwhile.
        var isEncoding = false
        /// When the copy was made, or nil before the first.
        var takenAt: MediaTime?
        var file: (bytes: [UInt8], takenAt: MediaTime)?
        /// Pictures of earlier ones are not shown any more.
        var epoch: CurtainEpoch = .first
        /// Nor are those that hide less than the standing regions of this version.
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
    ///   - encode: makes a file of a copy.
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

    /// Bytes while snapshots are asked for.
    static func memoryBytes(_ canvas: CanvasFormat, size: Int) -> Int {
        guard size > 0 else { return 0 }
        let (width, height) = Thumbnail.size(of: canvas, longest: size)
        return Thumbnail.memoryBytes(of: canvas, longest: size) + JPEG.estimatedBytes(width: width, height: height)
    }

    /// Any thread: what was taken before the curtain was raised for the nth time is shown to nobody any more.
    func forget(before epoch: CurtainEpoch) {
        state.withLock { state in
            state.epoch = epoch
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Any thread: the same for what was taken before the standing regions had this version.
    func forget(beforeRegions version: RegionsVersion) {
        state.withLock { state in
            state.regions = version
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Video thread, after each frame.
    ///
    /// - Parameter regions: the version of the standing regions that it hides.
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

    /// Any thread: a file that is no older than the interval, or nil, and then one is on its way.
    func file() throws(EncodingError) -> [UInt8]? {
        let now = clock.now()
        let copy = state.withLock { state -> Copy? in
            guard let takenAt = state.takenAt, now - takenAt < Self.interval, let thumbnail = state.thumbnail else {
                return nil
            }
            if let file = state.file, file.takenAt == takenAt { return .file(file.bytes) }
            // Another thread makes that very file.
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
            // What was to be forgotten meanwhile is shown to nobody.
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

    /// The newest there is, whatever its age.
    var lastFile: [UInt8]? { state.withLock { $0.file?.bytes } }
}
