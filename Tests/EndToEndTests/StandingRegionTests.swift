import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastPrivacy

/// Promise: what an app keeps hidden is in no frame from the answer on, whether the screen moves or stands still, and
/// however it is turned; until it is let go of.
@Suite struct StandingRegionTests {
    /// Pixels of the stored picture, which has 320 x 180.
    private static let place = RectEdges(left: 100, top: 60, right: 180, bottom: 120)

    private static func picture(_ grey: Float) -> RGBImage {
        var image = RGBImage(width: 320, height: 180, filling: RGB(grey, grey, grey))
        for row in 60..<120 {
            for column in 100..<180 {
                image[column, row] = (row / 4 + column / 4) % 2 == 0 ? RGB(1, 0, 1) : RGB(0, 1, 0)
            }
        }
        return image
    }

    private func ask(_ stage: Stage, _ method: String, _ path: String, _ body: String = "") throws {
        let answer = try UnixHTTPClient.ask(method, path, body: body, socket: stage.daemon.controlSocket)
        #expect(answer.status == 200, "\(answer)")
    }

    private func region(_ upright: RectEdges, _ size: (width: Double, height: Double)) -> String {
        """
        {"app": "kiosk", "name": "password", "x": \(upright.left / size.width), "y": \(upright.top / size.height),
         "width": \((upright.right - upright.left) / size.width),
         "height": \((upright.bottom - upright.top) / size.height)}
        """
    }

    @Test(.inItsTurn, arguments: [FitMode.fit, .fill]) func aStandingScreenIsCoveredAtOnce(fit: FitMode) async throws {
        try await blocking {
            // The canvas has another shape: bars, or a crop. A file has every picture that is encoded.
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings(width: 480, height: 360, fit: fit.rawValue)
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let stage = try Stage(settings)
            let sample = RawSample(Self.picture(0.5), format: .i420)
            let playback = try stage.live(showing: sample)
            try ask(stage, "POST", "/regions", region(Self.place, (320, 180)))
            // One may be on its way through the encoder.
            let first = try stage.daemon.encodedPictures() + 1
            try waitFor("pictures of the standing screen") { try stage.daemon.encodedPictures() > first + 4 }
            let end = try stage.daemon.encodedPictures()
            try ask(stage, "DELETE", "/regions?app=kiosk&name=password")
            try stage.show(sample, orientation: .up, in: playback)
            try playback.client.finish()
            var (before, after) = (0, 0)
            try DecodedVideo.forEachFrame(of: folder.file("out.flv")) { frame in
                guard frame.image.isColored else { return }
                #expect(!(first..<end).contains(frame.index), "picture \(frame.index), answered at \(first)")
                (before, after) = (before + (frame.index < first ? 1 : 0), after + (frame.index >= end ? 1 : 0))
            }
            #expect(before > 0 && after > 0, "\(before) before it was named, \(after) after it was removed")
            try stage.checkRecording(stage.server.finishedRecording())
            try stage.end()
        }
    }

    /// An app that moves a region without end gets each move hidden, and no more pictures than the stream has.
    @Test(.inItsTurn) func movingWithoutEndCostsNoPictures() async throws {
        try await blocking {
            let stage = try Stage()
            let sample = RawSample(Self.picture(0.5), format: .i420)
            let playback = try stage.live(showing: sample)
            let (before, began) = (try stage.daemon.encodedPictures(), MonotonicClock().now())
            for step in 0..<400 {
                let moved = Double(step % 3)
                try ask(
                    stage, "POST", "/regions",
                    region(
                        RectEdges(left: 97 + moved, top: 57 + moved, right: 183 + moved, bottom: 123 + moved),
                        (320, 180)))
            }
            let seconds = (MonotonicClock().now() - began).secondsAsDouble
            let made = try stage.daemon.encodedPictures() - before
            #expect(Double(made) <= seconds * 33 + 3, "\(made) pictures in \(seconds) s")
            try waitFor("a picture") { try stage.daemon.encodedPictures() > before }
            try playback.client.finish()
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// The region is where it is on the upright picture, whatever turns the stored one.
    @Test(.inItsTurn) func howeverItIsTurned() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(
                showing: RawSample(RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420))
            for (index, tag) in OrientationTag.allCases.enumerated() {
                let transform = OrientationConvention.exif.uprightTransform(for: tag)
                let upright = transform.upright(Self.place, width: 320, height: 180)
                try ask(
                    stage, "POST", "/regions", region(upright, transform.swapsAxes ? (180, 320) : (320, 180)))
                let sample = RawSample(Self.picture(0.3 + 0.05 * Float(index)), format: .nv12VideoRange)
                try stage.show(sample, orientation: tag, in: playback)
            }
            // Whose app is gone without a word: it stays hidden in the next broadcast.
            try playback.client.finish()
            let recording = try stage.server.finishedRecording()
            var frames = 0
            try DecodedVideo.forEachFrame(of: recording) { frame in
                frames += 1
                #expect(!frame.image.isColored, "frame \(frame.index)")
            }
            #expect(frames > 8)
            let next = try stage.live(showing: RawSample(Self.picture(0.5), format: .i420), orientation: .left)
            try next.client.finish()
            try DecodedVideo.forEachFrame(of: stage.server.finishedRecording(1)) { frame in
                #expect(!frame.image.isColored, "frame \(frame.index) of the next")
            }
            try stage.end()
        }
    }

    /// Whoever is told that a region is hidden can rely on it; what is refused changes nothing.
    @Test(.inItsTurn) func aRegionThatHidesNothingIsRefused() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("regions")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            func post(_ rectangle: String) throws -> (status: Int, body: String) {
                let answer = try UnixHTTPClient.ask(
                    "POST", "/regions", body: #"{"app": "kiosk", "name": "a", \#(rectangle)}"#,
                    socket: daemon.controlSocket)
                return (answer.status, answer.body)
            }
            func regions() throws -> [[String: Any]] {
                let privacy = try daemon.status()["privacy"] as? [String: Any]
                return privacy?["regions"] as? [[String: Any]] ?? []
            }
            #expect(try post(#""x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5"#).status == 200)
            let nothing = [
                (#""x": 0.1, "y": 0.1, "width": 0, "height": 0.5"#, "width: more than 0"),
                (#""x": 0.1, "y": 0.1, "width": 0.5, "height": 0"#, "height: more than 0"),
                (#""x": 1, "y": 0, "width": 0.5, "height": 1"#, "outside of the picture"),
                (#""x": -1, "y": 0, "width": 1, "height": 1"#, "outside of the picture"),
                (#""x": 1.5, "y": 0, "width": 1, "height": 1, "unit": "normalized""#, "outside of the picture"),
                // Pixels, and no word of it.
                (#""x": 1, "y": 1, "width": 8, "height": 8"#, "set unit to pixels"),
                (#""x": 0, "y": 0, "width": 8, "height": 8"#, "set unit to pixels"),
                (#""x": 4096, "y": 0, "width": 9, "height": 9, "unit": "pixels""#, "outside of every picture"),
                (#""x": -9, "y": 0, "width": 9, "height": 9, "unit": "pixels""#, "outside of every picture"),
                (#""x": 5, "y": 5, "width": 0, "height": 9, "unit": "pixels""#, "width: more than 0"),
            ]
            for (rectangle, sentence) in nothing {
                let answer = try post(rectangle)
                #expect(answer.status == 400, "\(rectangle): \(answer)")
                #expect(answer.body.contains("bad_value") && answer.body.contains(sentence), "\(answer)")
            }
            let app = CapturedApp(name: "kiosk", socket: daemon.controlSocket, timeout: .seconds(10))
            do throws(UpcastPrivacyError) {
                try app.hide(.pixels(x: 10, y: 10, width: 0, height: 10), named: "a")
                Issue.record("a region that hides nothing was taken")
            } catch {
                #expect(error.code == .refused && error.message.contains("width: more than 0"), "\(error)")
            }
            // The one of that name is as it was.
            let kept = try regions()
            #expect(kept.count == 1 && kept.first?["width"] as? Double == 0.5, "\(kept)")
            // What reaches out of the picture hides what lies in it.
            #expect(try post(#""x": -0.5, "y": 0.9, "width": 1, "height": 1"#).status == 200)
            #expect(try post(#""x": -4, "y": -4, "width": 8, "height": 8, "unit": "normalized""#).status == 200)
            #expect(try post(#""x": 4095, "y": 4095, "width": 9, "height": 9, "unit": "pixels""#).status == 200)
            #expect(try daemon.terminate() == .code(0))
        }
    }
}
