internal import Encoding
internal import FrameGeometry
internal import LinuxSystem
internal import MediaCore
internal import Synchronization

/// Small JPEG pictures of what is encoded, for whoever asks; where nobody does it costs a look at a flag.
///
/// The video thread makes a small copy when one is wanted; the file is made by the thread that asks. What is copied is
/// what viewers get: everything that must not be shown has been taken out before.
final class SnapshotBooth: Sendable {
    /// One picture in so much time: askers between get the same again.
    private static let interval = MediaTime.seconds(1)

    private struct State {
        var thumbnail: Thumbnail?
        /// When the copy was made, or nil before the first.
        var takenAt: MediaTime?
        var file: (bytes: [UInt8], takenAt: MediaTime)?
        /// Pictures of earlier ones are not shown any more.
        var epoch: UInt32 = 0
        /// Nor are those that hide less than the standing regions of this version.
        var regions: UInt32 = 0
    }

    private let canvas: CanvasFormat
    private let size: Int
    private let clock: any TimeSource
    private let wanted = Atomic(false)
    private let state = Monitor(State())

    /// - Parameter size: pixels of the longer side.
    init(_ canvas: CanvasFormat, size: Int, clock: any TimeSource) {
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
    func forget(before epoch: UInt32) {
        state.withLock { state in
            state.epoch = epoch
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Any thread: the same for what was taken before the standing regions had this version.
    func forget(beforeRegions version: UInt32) {
        state.withLock { state in
            state.regions = version
            state.takenAt = nil
            state.file = nil
        }
    }

    /// Video thread, after each frame.
    ///
    /// - Parameter regions: the version of the standing regions that it hides.
    func pass(_ picture: Picture, epoch: UInt32, regions: UInt32) {
        guard wanted.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard epoch >= state.epoch, regions >= state.regions else { return }
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
        let result = state.withLock { state -> Result<[UInt8], EncodingError>? in
            guard let takenAt = state.takenAt, now - takenAt < Self.interval, let thumbnail = state.thumbnail else {
                return nil
            }
            if let file = state.file, file.takenAt == takenAt { return .success(file.bytes) }
            do throws(EncodingError) {
                let bytes = try JPEG.encode(thumbnail.picture.planes)
                state.file = (bytes, takenAt)
                return .success(bytes)
            } catch {
                return .failure(error)
            }
        }
        if result == nil { wanted.store(true, ordering: .relaxed) }
        return try result?.get()
    }

    /// The newest there is, whatever its age.
    var lastFile: [UInt8]? { state.withLock { $0.file?.bytes } }
}
