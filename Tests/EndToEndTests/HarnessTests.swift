import Foundation
import MediaCore
import TestSupport
import Testing

/// The instruments themselves: each is shown to measure what it says, against ffmpeg and against known answers, before
/// it judges the product.
@Suite struct HarnessTests {
    /// A server that records what ffmpeg publishes, and probes that read it back: frames, packets, tones.
    @Test(.inItsTurn) func serverRecordsAndProbesRead() async throws {
        try await blocking {
            let server = try NginxRTMP()
            let publisher = try ChildProcess(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2",
                    "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=2",
                    "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-pix_fmt", "yuv420p",
                    "-c:a", "aac", "-b:a", "128k", "-f", "flv", server.url + "/key",
                ])
            try publisher.waitForSuccess(within: 60)
            let recording = try server.finishedRecording()
            try server.stop()

            #expect(try MediaProbe.decodingErrors(recording) == "")
            #expect(try DecodedVideo.forEachFrame(of: recording) { _ in } == 50)
            let flv = try FLVRecording(recording)
            #expect(flv.videoSequenceHeaders.count == 1)
            #expect(flv.audioSequenceHeaders.count == 1)
            let audio = try DecodedAudio(recording)
            let middle = audio.samples(channel: 0, from: 0.5, to: 1.5)
            // ffmpeg's sine has an amplitude of 1/8.
            #expect(abs(ToneAnalysis.level(of: 440, in: middle, sampleRate: audio.sampleRate) + 18.06) < 0.5)
            #expect(ToneAnalysis.level(of: 1000, in: middle, sampleRate: audio.sampleRate) < -70)
            let pitch = ToneAnalysis.pitch(in: middle, sampleRate: audio.sampleRate, range: 400...480)
            #expect(abs(pitch - 440) <= 1)
        }
    }

    /// No turn or mirroring maps the picture to itself; what `store` does differs for all eight.
    @Test(arguments: [(320, 640), (640, 360)]) func pictureHasNoSymmetry(width: Int, height: Int) throws {
        let upright = ReferencePicture(width: width, height: height, number: 5).image
        for convention in [OrientationConvention.exif, .replayKit] {
            for fit in FitMode.allCases {
                let right = ReferenceCanvas.render(upright, width: 320, height: 180, fit: fit)
                try PictureArchive.save(right, as: "reference-\(width)x\(height)-\(fit)")
                for tag in OrientationTag.allCases where tag != .up {
                    let stored = StoredOrientation.store(upright, tag: tag, convention: convention)
                    let wrong = ReferenceCanvas.render(stored, width: 320, height: 180, fit: fit)
                    #expect(try PictureComparison(right, wrong).lumaSSIM < 0.9, "\(convention) \(tag) \(fit)")
                }
            }
        }
    }

    /// The number can be read from every canvas.
    @Test func markerIsReadBack() {
        for number in [0, 1, 77, 128, 255] as [UInt8] {
            let picture = ReferencePicture(width: 320, height: 640, number: number)
            for fit in FitMode.allCases {
                let canvas = ReferenceCanvas.render(picture.image, width: 640, height: 360, fit: fit)
                let placement = Placement(
                    sourceWidth: 320, sourceHeight: 640, canvasWidth: 640, canvasHeight: 360, fit: fit)
                #expect(MarkerCells.read(canvas, placement: placement) == number)
            }
        }
        let grey = [UInt8](repeating: 128, count: I420Image.byteCount(width: 640, height: 360))
        let nothing = I420Image(width: 640, height: 360, bytes: grey)
        let placement = Placement(sourceWidth: 320, sourceHeight: 640, canvasWidth: 640, canvasHeight: 360, fit: .fit)
        #expect(MarkerCells.read(nothing, placement: placement) == nil)
    }

    /// The verdict tells the mistakes that matter from the right picture.
    @Test func verdictCatchesColourMistakes() throws {
        for fit in FitMode.allCases {
            let upright = ReferencePicture(width: 320, height: 640, number: 9).image
            let right = ReferenceCanvas.render(upright, width: 640, height: 360, fit: fit)
            #expect(try PictureComparison(right, right).isSamePicture)
            var exchanged = right
            swap(&exchanged.u, &exchanged.v)
            #expect(try !PictureComparison(right, exchanged).isSamePicture)
        }
        let picture = ReferencePicture(width: 640, height: 360, number: 9).image
        let right = ColorConversion.i420(picture, matrix: .bt709, range: .video)
        for (matrix, range) in [(ColorMatrix.bt601, ColorRange.video), (.bt2020, .video), (.bt709, .full)] {
            let wrong = ColorConversion.i420(picture, matrix: matrix, range: range)
            let comparison = try PictureComparison(right, wrong)
            #expect(!comparison.isSamePicture, "\(matrix) \(range): \(comparison)")
        }
    }

    /// A pipeline that is known to be right passes the verdict: ffmpeg turns, scales, encodes and publishes.
    @Test(
        .inItsTurn,
        arguments: [
            (FitMode.fit, "scale=180:360,pad=640:360:230:0"), (.fill, "scale=640:1280,crop=640:360"),
            (.stretch, "scale=640:360"),
        ])
    func verdictPassesFFmpeg(fit: FitMode, filter: String) async throws {
        try await blocking {
            let upright = ReferencePicture(width: 320, height: 640, number: 9).image
            let stored = StoredOrientation.store(upright, tag: .right, convention: .exif)
            let sample = RawSample(stored, format: .nv12VideoRange)
            let folder = try TemporaryDirectory("raw")
            try Data(sample.payload).write(to: URL(fileURLWithPath: folder.file("nv12")))
            let server = try NginxRTMP()
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-stream_loop", "9", "-f", "rawvideo", "-pix_fmt", "nv12",
                    "-s", "640x320", "-i", folder.file("nv12"), "-vf", "transpose=clock,\(filter),format=yuv420p",
                    "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-b:v", "8M", "-f", "flv",
                    server.url + "/key",
                ])
            let frame = try DecodedVideo.lastFrame(of: server.finishedRecording())
            let expected = ReferenceCanvas.render(upright, width: 640, height: 360, fit: fit)
            let comparison = try PictureComparison(frame.image, expected)
            try PictureArchive.save(frame.image, as: "ffmpeg-\(fit)")
            #expect(comparison.isSamePicture, "\(comparison)")
            print("ffmpeg, \(fit): \(comparison)")
        }
    }

    /// SSIM and PSNR agree with ffmpeg's filters on a picture and its compressed self.
    @Test(.inItsTurn) func comparisonAgreesWithFFmpeg() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("ssim")
            let reference = ReferenceCanvas.render(
                ReferencePicture(width: 320, height: 640, number: 9).image, width: 640, height: 360, fit: .stretch)
            let raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "640x360"]
            try Data(reference.y + reference.u + reference.v).write(to: URL(fileURLWithPath: folder.file("a")))
            let (a, b, spoilt) = (folder.file("a"), folder.file("b"), folder.file("spoilt.avi"))
            let quiet = ["-nostdin", "-v", "error", "-y"]
            _ = try ChildProcess.run(
                "ffmpeg", quiet + raw + ["-i", a, "-c:v", "mpeg4", "-qscale", "20", spoilt])
            _ = try ChildProcess.run("ffmpeg", quiet + ["-i", spoilt] + raw + [b])
            let bytes = [UInt8](FileManager.default.contents(atPath: b) ?? Data())
            let ours = try PictureComparison(reference, I420Image(width: 640, height: 360, bytes: bytes))

            let log = folder.file("log")
            _ = try ChildProcess.run(
                "ffmpeg",
                quiet + raw + ["-i", a] + raw + ["-i", b, "-lavfi", "ssim=stats_file=\(log)", "-f", "null", "-"])
            let text = try String(contentsOfFile: log, encoding: .utf8)
            let theirs = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).reduce(into: [String: Double]()) {
                let pair = $1.split(separator: ":")
                if pair.count == 2, let value = Double(pair[1]) { $0[String(pair[0])] = value }
            }
            #expect(abs(ours.lumaSSIM - (theirs["Y"] ?? 0)) < 0.0005)
            #expect(abs(ours.chromaSSIM - min(theirs["U"] ?? 0, theirs["V"] ?? 0)) < 0.0005)
            #expect(ours.lumaSSIM < 0.99)
        }
    }

    /// Our pixel format writers and ffmpeg's readers agree on every format, matrix and range.
    @Test(
        .inItsTurn,
        arguments: [
            (PixelFormat.nv12VideoRange, "nv12", ColorMatrix.bt709, ColorRange.video),
            (.nv12FullRange, "nv12", .bt709, .full), (.i420, "yuv420p", .bt601, .video),
            (.i420, "yuv420p", .bt601, .full), (.i422, "yuv422p", .bt709, .video), (.i444, "yuv444p", .bt709, .full),
            (.bgra, "bgra", .bt709, .full), (.rgba, "rgba", .bt709, .full), (.argb, "argb", .bt709, .full),
            (.yuy2, "yuyv422", .bt709, .video), (.uyvy, "uyvy422", .bt601, .video),
            (.p010, "p010le", .bt709, .video), (.p010, "p010le", .bt2020, .video),
            (.nv21, "nv21", .bt601, .video), (.abgr, "abgr", .bt709, .full),
            (.p010FullRange, "p010le", .bt709, .full), (.p210VideoRange, "p210le", .bt709, .video),
        ])
    func rawSamplesAgreeWithFFmpeg(
        format: PixelFormat, ffmpegName: String, matrix: ColorMatrix, range: ColorRange
    ) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("format")
            let upright = ReferencePicture(width: 320, height: 360, number: 200).image
            let sample = RawSample(upright, format: format, matrix: matrix, range: range)
            #expect(sample.payload.count == sample.format.minimumPayloadBytes)
            try Data(sample.payload).write(to: URL(fileURLWithPath: folder.file("in")))
            let matrixName = matrix == .bt709 ? "bt709" : matrix == .bt601 ? "bt601" : "bt2020"
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", ffmpegName, "-s", "320x360",
                    "-i", folder.file("in"), "-vf",
                    "scale=in_color_matrix=\(matrixName):in_range=\(range == .full ? "full" : "limited")"
                        + ":out_color_matrix=bt709:out_range=limited:flags=accurate_rnd+full_chroma_int+bilinear",
                    "-f", "rawvideo", "-pix_fmt", "yuv420p", folder.file("out"),
                ])
            let bytes = [UInt8](FileManager.default.contents(atPath: folder.file("out")) ?? Data())
            let theirs = I420Image(width: 320, height: 360, bytes: bytes)
            let ours = ReferenceCanvas.render(upright, width: 320, height: 360, fit: .fit)
            let comparison = try PictureComparison(ours, theirs)
            #expect(comparison.lumaSSIM > 0.99 && comparison.lumaPSNR > 38, "\(comparison)")
            #expect(comparison.chromaError < 2, "\(comparison)")
        }
    }

    /// What the virtual screen plays moves, and a grab sees it.
    @Test(.inItsTurn) func virtualScreenMoves() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 170).image, width: 640, height: 360, fit: .fit)
            let player = try screen.play(scene)
            let sums = try ChildProcess.run(
                "ffmpeg",
                ["-nostdin", "-v", "error"] + screen.grabArguments(rate: 20) + ["-t", "2", "-f", "framemd5", "-"])
            let lines = sums.split(separator: "\n").filter { !$0.hasPrefix("#") }
            let frames = lines.compactMap { $0.split(separator: ",").last }
            #expect(Set(frames).count > 10, "\(Set(frames).count) different frames of \(frames.count)")
            try player.stop(SIGKILL)
        }
    }

    /// Tones of known level and pitch.
    @Test func toneAnalysisMeasures() {
        let rate = 48_000
        let loud = Tone(frequency: 440, amplitude: 0.5).samples(count: rate, rate: rate)
        let quiet = Tone(frequency: 1000, amplitude: 0.05).samples(count: rate, rate: rate)
        let samples = zip(loud, quiet).map { $0 + $1 }
        #expect(abs(ToneAnalysis.level(of: 440, in: samples[...], sampleRate: rate) + 6.02) < 0.05)
        #expect(abs(ToneAnalysis.level(of: 1000, in: samples[...], sampleRate: rate) + 26.02) < 0.05)
        #expect(ToneAnalysis.level(of: 700, in: samples[...], sampleRate: rate) < -90)
        #expect(ToneAnalysis.onset(in: samples[...], above: 0.2) != nil)
        #expect(abs(ToneAnalysis.rms(samples[...]) + 5.98) < 0.05)
    }

    /// A child that ignores SIGTERM is killed and reported; one that ends says how.
    @Test(.inItsTurn) func childrenEnd() async throws {
        try await blocking {
            let polite = try ChildProcess("sh", ["-c", "echo out; echo err >&2; exit 3"])
            #expect(polite.waitForExit(within: 20) == .code(3))
            #expect(polite.output == "out\n")
            #expect(polite.errors == "err\n")
            let stubborn = try ChildProcess("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"])
            try waitFor("the child to be ready") { stubborn.output == "ready\n" }
            #expect(throws: TestFailure.self) { try stubborn.stop(within: 0.3) }
            #expect(!stubborn.isRunning)
        }
    }
}
