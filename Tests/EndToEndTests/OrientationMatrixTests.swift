import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: whatever side of a picture is up, in either convention, in every main pixel format, viewers see it upright,
/// in its colours, fitted as configured.
@Suite struct OrientationMatrixTests {
    /// A way to store pixels; the number of a test picture counts through ways and stored orientations.
    struct Storage: Sendable {
        let format: PixelFormat
        var matrix = ColorMatrix.bt709
        var range = ColorRange.video
        var padding = 0
    }

    static let storages: [Storage] = [
        Storage(format: .nv12VideoRange), Storage(format: .nv12FullRange, padding: 32),
        Storage(format: .i420, matrix: .bt601), Storage(format: .bgra, padding: 64), Storage(format: .rgba),
        Storage(format: .yuy2), Storage(format: .p010), Storage(format: .p010FullRange, padding: 2),
        Storage(format: .p210VideoRange), Storage(format: .nv16VideoRange, padding: 6), Storage(format: .nv21),
        Storage(format: .yv12, matrix: .bt601), Storage(format: .twoVUY), Storage(format: .abgr, padding: 4),
    ]

    private static let samples = Monitor<[UInt8: RawSample]>([:])
    private static let canvases = Monitor<[[UInt8]: I420Image]>([:])

    /// Which of the eight stored orientations a tag means; the same stored picture has one tag in each convention.
    private func storedIndex(_ tag: OrientationTag, _ convention: OrientationConvention) -> Int {
        let probe = ReferencePicture(width: 16, height: 32, number: 0).image
        return OrientationTag.allCases.firstIndex {
            let exif = StoredOrientation.store(probe, tag: $0, convention: .exif)
            let wanted = StoredOrientation.store(probe, tag: tag, convention: convention)
            return exif.width == wanted.width && exif.pixels == wanted.pixels
        }!
    }

    private func sample(_ number: UInt8, _ storage: Storage, _ storedIndex: Int) -> RawSample {
        Self.samples.withLock { cache in
            if let sample = cache[number] { return sample }
            let upright = ReferencePicture(width: 320, height: 640, number: number).image
            let stored = StoredOrientation.store(upright, tag: OrientationTag.allCases[storedIndex], convention: .exif)
            let sample = RawSample(
                stored, format: storage.format, matrix: storage.matrix, range: storage.range, padding: storage.padding)
            cache[number] = sample
            return sample
        }
    }

    private func canvas(_ number: UInt8, _ fit: FitMode) -> I420Image {
        Self.canvases.withLock { cache in
            let key = [number, UInt8(FitMode.allCases.firstIndex(of: fit)!)]
            if let canvas = cache[key] { return canvas }
            let upright = ReferencePicture(width: 320, height: 640, number: number).image
            // The background is the configuration's #204060.
            let canvas = ReferenceCanvas.render(
                upright, width: 640, height: 360, fit: fit, background: RGB(32 / 255, 64 / 255, 96 / 255))
            cache[key] = canvas
            return canvas
        }
    }

    @Test(.inItsTurn, arguments: [OrientationConvention.exif, .replayKit], FitMode.allCases)
    func everyOrientationAndFormat(convention: OrientationConvention, fit: FitMode) async throws {
        try await blocking {
            var settings = DaemonSettings(fit: fit.rawValue)
            settings.video["background"] = "\"#204060\""
            let stage = try Stage(settings)
            var pictures: [(sample: RawSample, tag: OrientationTag)] = []
            var names: [UInt8: String] = [:]
            for tag in OrientationTag.allCases {
                let stored = storedIndex(tag, convention)
                for (index, storage) in Self.storages.enumerated() {
                    let number = UInt8(index * 8 + stored)
                    pictures.append((sample(number, storage, stored), tag))
                    names[number] = "\(storage.format.fourCC) tag \(tag.rawValue) \(convention) \(fit)"
                }
            }
            let lead = RawSample(ReferencePicture(width: 320, height: 640, number: 255).image, format: .i420)
            let playback = try stage.live(convention, showing: lead)
            for picture in pictures { try stage.show(picture.sample, orientation: picture.tag, in: playback) }
            try playback.client.finish()
            #expect(playback.client.errors.map(\.text) == [])
            let recording = try stage.server.finishedRecording()

            let placement = Placement(
                sourceWidth: 320, sourceHeight: 640, canvasWidth: 640, canvasHeight: 360, fit: fit)
            var shown: [UInt8: I420Image] = [:]
            try DecodedVideo.forEachFrame(of: recording) { frame in
                if let number = MarkerCells.read(frame.image, placement: placement) { shown[number] = frame.image }
            }
            for (number, name) in names.sorted(by: { $0.key < $1.key }) {
                guard let image = shown[number] else {
                    Issue.record("\(name): was never seen upright")
                    continue
                }
                let expected = canvas(number, fit)
                let comparison = try PictureComparison(image, expected)
                #expect(comparison.isSamePicture, "\(name): \(comparison)")
                let file = name.replacing(" ", with: "-")
                if number == 13 || !comparison.isSamePicture { try PictureArchive.save(image, as: file) }
                if !comparison.isSamePicture { try PictureArchive.save(expected, as: file + "-expected") }
            }
            let video = try MediaProbe.streams(recording).first { $0.codec_type == "video" }
            #expect(video?.color_range == "tv" && video?.color_space == "bt709" && video?.has_b_frames == 0)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }
}
