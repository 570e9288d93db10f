import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: what lies in a secure region is in no frame that leaves, whatever the format, the turn, the fit and the
/// scale; and the rest is as it was.
@Suite struct SecureRegionTests {
    /// Grey, so that whatever has colour in a recording comes from the marker: a chequer of saturated colours that
    /// fills the region to its last pixel, at another place each time.
    private func picture(
        _ number: Int, marked: Bool, width: Int = 320, height: Int = 180
    ) -> (RGBImage, SecureRegions) {
        var image = RGBImage(width: width, height: height, filling: RGB(0.5, 0.5, 0.5))
        let (x, y) = (3 + number * 37 % (width - 90), 5 + number * 23 % (height - 60))
        let (wide, high) = (41 + number % 40, 23 + number % 30)
        let colors = [RGB(1, 0, 1), RGB(0, 1, 0), RGB(1, 1, 0), RGB(0, 0, 1)]
        if marked {
            for row in y..<y + high {
                for column in x..<x + wide { image[column, row] = colors[(column / 6 + row / 6 * 2) % 4] }
            }
        }
        var regions = SecureRegions()
        regions.hide(x: x, y: y, width: wide, height: high, pictureWidth: width, pictureHeight: height)
        // Others that overlap it, reach out of the picture and lie beside it.
        regions.hide(x: x + 5, y: y + 5, width: 10, height: 10, pictureWidth: width, pictureHeight: height)
        regions.hide(x: -20, y: -20, width: 25, height: 25, pictureWidth: width, pictureHeight: height)
        regions.hide(x: width + 3, y: 0, width: 25, height: 25, pictureWidth: width, pictureHeight: height)
        return (image, regions)
    }

    struct Canvas: Sendable, CustomTestStringConvertible {
        let width, height: Int
        var testDescription: String { "\(width)x\(height)" }
    }

    @Test(
        .inItsTurn, arguments: FitMode.allCases,
        [Canvas(width: 640, height: 360), Canvas(width: 192, height: 128)])
    func nothingOfTheMarkerLeaves(fit: FitMode, canvas: Canvas) async throws {
        try await blocking {
            let stage = try Stage(DaemonSettings(width: canvas.width, height: canvas.height, fit: fit.rawValue))
            let playback = try stage.live(showing: RawSample(picture(0, marked: false).0, format: .i420))
            var number = 0
            for storage in OrientationMatrixTests.storages {
                for tag in OrientationTag.allCases {
                    number += 1
                    let (image, regions) = picture(number, marked: true)
                    let sample = RawSample(
                        image, format: storage.format, matrix: storage.matrix, range: storage.range,
                        padding: storage.padding)
                    try stage.show(sample, orientation: tag, hiding: regions, in: playback)
                }
            }
            try playback.client.finish()
            #expect(playback.client.errors.map(\.text) == [])
            let recording = try stage.server.finishedRecording()
            var frames = 0
            try DecodedVideo.forEachFrame(of: recording) { frame in
                frames += 1
                let count = frame.image.coloredSamples
                #expect(count == 0, "frame \(frame.index) at \(frame.pts) s")
                if count > 0 || frames == 60 {
                    try PictureArchive.save(frame.image, as: "secure-\(fit)-\(canvas.width)-\(frame.index)")
                }
            }
            #expect(frames > number)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// What lies beside a region is the picture that was sent, as if there were no region.
    @Test(.inItsTurn, arguments: [OrientationTag.up, .upMirrored])
    func besideARegionThePictureIsUntouched(tag: OrientationTag) async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(5))
            let source = ReferencePicture(width: 320, height: 180, number: 5).image
            var regions = SecureRegions()
            // The last third of the stored picture; mirrored it is the first.
            regions.hide(x: 214, y: 0, width: 106, height: 180, pictureWidth: 320, pictureHeight: 180)
            try stage.show(RawSample(source, format: .i420), orientation: tag, hiding: regions, in: playback)
            try playback.client.finish()
            var last: I420Image?
            try DecodedVideo.forEachFrame(of: stage.server.finishedRecording()) { last = $0.image }
            let turned =
                tag == .up
                ? source
                : {
                    var mirrored = source
                    for row in 0..<180 { for column in 0..<320 { mirrored[column, row] = source[319 - column, row] } }
                    return mirrored
                }()
            let sent = ReferenceCanvas.render(turned, width: 640, height: 360, fit: .fit)
            // Two thirds, less what the region is widened by and an encoder's block.
            func beside(_ image: I420Image) -> I420Image {
                let first = tag == .up ? 0 : 640 - 400
                func cut(_ plane: [UInt8], _ width: Int, _ from: Int, _ count: Int) -> [UInt8] {
                    (0..<plane.count / width).flatMap { plane[($0 * width + from)..<($0 * width + from + count)] }
                }
                return I420Image(
                    width: 400, height: 360, y: cut(image.y, 640, first, 400), u: cut(image.u, 320, first / 2, 200),
                    v: cut(image.v, 320, first / 2, 200))
            }
            let decoded = try #require(last)
            let comparison = try PictureComparison(beside(decoded), beside(sent))
            #expect(comparison.isSamePicture && comparison.lumaSSIM > 0.98, "\(comparison)")
            // And the region is there.
            let middle = 180 * 640 + (tag == .up ? 530 : 110)
            #expect(decoded.y[middle] < 24, "\(decoded.y[middle])")
            try stage.end()
        }
    }

    /// The snapshot is made of what is broadcast.
    @Test(.inItsTurn) func theSnapshotShowsNothingOfIt() async throws {
        try await blocking {
            let stage = try Stage(DaemonSettings(width: 320, height: 180))
            let playback = try stage.live(showing: RawSample(picture(0, marked: false).0, format: .i420))
            func colors() throws -> Int {
                let answer = try UnixHTTPClient.get("/snapshot.jpg", socket: stage.daemon.controlSocket)
                #expect(answer.status == 200)
                let folder = try TemporaryDirectory("snapshot")
                try Data(answer.bytes).write(to: URL(filePath: folder.file("a.jpg")))
                _ = try ChildProcess.run(
                    "ffmpeg",
                    [
                        "-nostdin", "-v", "error", "-i", folder.file("a.jpg"), "-pix_fmt", "yuv420p", "-f", "rawvideo",
                        folder.file("a.raw"),
                    ])
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.file("a.raw"))))
                return I420Image(width: 320, height: 180, bytes: bytes).coloredSamples
            }
            let (image, regions) = picture(7, marked: true)
            let sample = RawSample(image, format: .nv12VideoRange)
            try stage.show(sample, orientation: .up, in: playback)
            func ask(_ method: String, _ path: String, _ body: String = "") throws {
                let answer = try UnixHTTPClient.ask(method, path, body: body, socket: stage.daemon.controlSocket)
                #expect(answer.status == 200, "\(answer)")
            }
            #expect(try colors() > 20)
            try stage.show(sample, orientation: .up, hiding: regions, in: playback)
            // Askers within a second get the same picture.
            try waitFor("the next snapshot") { try colors() == 0 }
            try stage.show(sample, orientation: .up, in: playback)
            try waitFor("the next snapshot") { try colors() > 20 }
            // But for what is hidden from the answer on.
            try ask("POST", "/regions", #"{"name": "a", "x": 0, "y": 0, "width": 1, "height": 1}"#)
            #expect(try colors() == 0)
            try ask("DELETE", "/regions?name=a")
            try stage.show(sample, orientation: .up, in: playback)
            try waitFor("the next snapshot") { try colors() > 20 }
            try ask("POST", "/curtain/up")
            #expect(try colors() == 0)
            try playback.client.finish()
            try stage.end()
        }
    }

    /// The first test sees a marker that is there: without regions each picture has dozens of coloured samples.
    @Test(.inItsTurn) func theMarkerWouldBeSeen() async throws {
        try await blocking {
            let stage = try Stage(DaemonSettings(width: 192, height: 128))
            let playback = try stage.live(showing: RawSample(picture(0, marked: false).0, format: .i420))
            let (image, _) = picture(7, marked: true)
            try stage.show(RawSample(image, format: .nv12VideoRange), orientation: .right, in: playback)
            try playback.client.finish()
            let recording = try stage.server.finishedRecording()
            var most = 0
            try DecodedVideo.forEachFrame(of: recording) { most = max(most, $0.image.coloredSamples) }
            #expect(most > 20)
            try stage.end()
        }
    }
}
