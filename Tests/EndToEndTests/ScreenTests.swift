import Foundation
import MediaCore
import TestSupport
import Testing

/// Promise: a real screen, grabbed by somebody else's program and sent through `upcast-send`, reaches viewers upright
/// and moving.
@Suite struct ScreenTests {
    /// The capture of a device that is held sideways: x11grab's picture is stored turned, and its tag says so. What was
    /// recorded is held against a direct grab of the same screen. (ffmpeg makes BT.601 of a screen of this size unless
    /// told otherwise, and Y4M does not say; the right colours show that it was guessed right.)
    @Test(
        .inItsTurn,
        arguments: [("right", "transpose=cclock"), ("down", "hflip,vflip"), ("left-mirrored", "transpose=cclock_flip")])
    func grabbedScreenArrivesUpright(orientation: String, storedBy filter: String) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 170).image, width: 640, height: 360, fit: .fit)
            let player = try screen.play(scene)
            let stage = try Stage()

            let folder = try TemporaryDirectory("strip")
            let strip = folder.file("strip.rgb")
            let (grabber, sender) = try ChildProcess.pipeline(
                (
                    "ffmpeg",
                    ["-nostdin", "-v", "error"] + screen.grabArguments(rate: 20) + [
                        "-t", "5", "-vf", filter + ",format=yuv420p", "-f", "yuv4mpegpipe", "-strict", "-1", "pipe:1",
                        // The same frames' strip along which the square runs, as they were grabbed.
                        "-t", "5", "-vf", "crop=640:2:0:340,format=rgb24", "-f", "rawvideo", strip,
                    ]
                ),
                (
                    // Late, so that the grabber has to wait for its first frame: it must grab in time nevertheless, and
                    // not wait, and repeat old frames, for ever after.
                    "sh",
                    [
                        "-c", "sleep 1; exec \"$@\"", "sh", try ProductExecutable.upcastSend.path,
                        "--socket", stage.daemon.ingestSocket, "--video", "-", "--orientation", orientation,
                        "--convention", "exif",
                    ]
                ))
            do { try grabber.waitForSuccess(within: 60) } catch { throw TestFailure("\(error) \(sender.errorTail)") }
            let direct = try screen.grab()
            try sender.waitForSuccess(within: 30)
            let recording = try stage.server.finishedRecording()
            try player.stop(SIGKILL)

            // The lower 50 rows hold what moves; the rest is compared with the direct grab.
            func still(_ image: I420Image) -> I420Image {
                let rows = 304
                return I420Image(
                    width: image.width, height: rows, y: Array(image.y.prefix(rows * image.width)),
                    u: Array(image.u.prefix(rows / 2 * image.chromaWidth)),
                    v: Array(image.v.prefix(rows / 2 * image.chromaWidth)))
            }
            var squares: Set<Int> = []
            var last: I420Image?
            try DecodedVideo.forEachFrame(of: recording) { frame in
                // The square is red: V is high and U is not.
                let row = 170 * frame.image.chromaWidth
                let isRed = { (x: Int) in frame.image.v[row + x] > 215 && frame.image.u[row + x] < 125 }
                if let left = (0..<frame.image.chromaWidth).first(where: isRed) { squares.insert(left) }
                last = frame.image
            }
            let image = try #require(last)
            let comparison = try PictureComparison(still(image), still(direct))
            try PictureArchive.save(image, as: "screen-\(orientation)")
            try PictureArchive.save(direct, as: "screen-\(orientation)-direct")
            #expect(comparison.isSamePicture, "\(comparison)")
            // How smoothly the player moves depends on the machine; what was grabbed is what has to arrive, but for
            // what a busy machine made late, which the sender and the daemon must own up to.
            let grabbed = Self.squares(inStrip: FileManager.default.contents(atPath: strip) ?? Data())
            try stage.daemon.waitForLog("broadcast ended")
            let late = Self.number(before: " frames came too late", in: sender.errorTail)
            let dropped = Self.number(after: " dropped=", in: stage.daemon.log)
            let evidence =
                "grabbed at \(grabbed.count) places, seen at \(squares.count); \(late) frames late, \(dropped) dropped"
            print(evidence)
            #expect(grabbed.count > 12, "the grabber was held up, or the square does not move on the screen")
            #expect((squares.count + late + dropped) * 10 >= grabbed.count * 9, "\(evidence)")
            #expect(squares.count > 12, "\(evidence)")
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    private static func number(before words: String, in text: String) -> Int {
        guard let end = text.range(of: words)?.lowerBound else { return 0 }
        return Int(text[..<end].reversed().prefix { $0.isNumber }.reversed().map(String.init).joined()) ?? 0
    }

    private static func number(after words: String, in text: String) -> Int {
        guard let start = text.range(of: words)?.upperBound else { return 0 }
        return Int(text[start...].prefix { $0.isNumber }) ?? 0
    }

    /// Where the red square begins in each frame of two rows of 640 RGB pixels, in chroma columns.
    private static func squares(inStrip bytes: Data) -> Set<Int> {
        let row = 640 * 3
        var places: Set<Int> = []
        for frame in stride(from: 0, to: bytes.count - 2 * row + 1, by: 2 * row) {
            let left = (0..<640).first { x in
                let pixel = bytes.startIndex + frame + 3 * x
                return bytes[pixel] > 200 && bytes[pixel + 1] < 60 && bytes[pixel + 2] < 60
            }
            if let left { places.insert(left / 2) }
        }
        return places
    }
}
