import Encoding
import FLV
import MediaCore
import TestSupport
import Testing

@Suite struct VideoEncoderTests {
    private static func settings(
        _ width: Int, _ height: Int, color: ColorDescription = .hd
    ) -> VideoEncoderSettings {
        let canvas = CanvasFormat(width: width, height: height, frameRate: FrameRate(30), color: color)
        return VideoEncoderSettings(canvas: canvas, bitrate: 2_000_000)
    }

    /// Encodes the moving scene and returns what was painted, frame by frame.
    private static func encodeScene(
        _ encoder: VideoEncoder, frames: Int, into recording: PacketRecording
    ) throws -> [[UInt8]] {
        var painted: [[UInt8]] = []
        let canvases = (0..<3).map { _ in TestPictures.canvas(of: encoder) }
        for frame in 0..<frames {
            // They come in turn, as a daemon's do.
            let planes = canvases[frame % 3].planes
            TestPictures.paintScene(frame, on: planes)
            painted.append(TestPictures.bytes(of: planes))
            let time = MediaTime(sample: Int64(frame), rate: 30)
            try encoder.encode(planes, pts: time, forceKeyframe: false, arrival: time + .seconds(7), into: recording)
        }
        return painted
    }

    @Test(
        .enabled(if: isFFmpegInstalled, "needs the ffmpeg command"),
        arguments: [nil, .nv12] as [VideoEncoderSettings.ChromaLayout?], [false, true])
    func whatIsPaintedIsDecoded(layout: VideoEncoderSettings.ChromaLayout?, subpixelMotion: Bool) throws {
        var settings = Self.settings(322, 178)
        settings.chromaLayout = layout
        settings.subpixelMotion = subpixelMotion
        let encoder = try VideoEncoder(settings)
        let recording = PacketRecording()
        let painted = try Self.encodeScene(encoder, frames: 20, into: recording)
        #expect(recording.packets.count == 20, "the defaults delay nothing")
        try encoder.finish(into: recording)
        #expect(recording.packets.count == 20)

        let decoded = try MediaFile(recording.flv(video: encoder.format)).decoded("-f rawvideo")
        try #require(decoded.count == painted.reduce(0) { $0 + $1.count })
        for (index, picture) in painted.enumerated() {
            let range = (index * picture.count)..<((index + 1) * picture.count)
            #expect(TestPictures.psnr(decoded[range], picture[...]) > 36, "frame \(index)")
        }
    }

    @Test func packetsAreWhatTheSinkIsPromised() throws {
        let encoder = try VideoEncoder(Self.settings(160, 96))
        let recording = PacketRecording()
        _ = try Self.encodeScene(encoder, frames: 10, into: recording)
        for (index, packet) in recording.packets.enumerated() {
            let time = MediaTime(sample: Int64(index), rate: 30)
            let priority: PacketPriority = index == 0 ? .keyframe : .reference
            let arrival = time + .seconds(7)
            #expect(
                packet.info == PacketInfo(track: .video, pts: time, dts: time, priority: priority, arrival: arrival))
            var types: [UInt8] = []
            var reader = LengthPrefixedReader(packet.bytes.span.bytes)
            while let unit = try reader.next() { types.append(packet.bytes[unit.lowerBound] & 0x1f) }
            #expect(types == (index == 0 ? [6, 5] : [1]), "x264 signs its first frame; else there are slices only")
        }
    }

    @Test(
        .enabled(if: isFFmpegInstalled, "needs the ffmpeg command"),
        arguments: [
            (ColorDescription.hd, "tv", "bt709", "bt709", "bt709"),
            (ColorDescription(matrix: .bt709, range: .full), "pc", "bt709", "bt709", "bt709"),
            (ColorDescription(matrix: .bt601, range: .video), "tv", "smpte170m", "smpte170m", "smpte170m"),
            (ColorDescription(matrix: .bt2020, range: .video), "tv", "bt2020nc", "bt2020", "bt2020-10"),
        ])
    func colourIsSignalled(
        color: ColorDescription, range: String, matrix: String, primaries: String, transfer: String
    ) throws {
        let encoder = try VideoEncoder(Self.settings(160, 96, color: color))
        let recording = PacketRecording()
        let painted = try Self.encodeScene(encoder, frames: 5, into: recording)
        let file = try MediaFile(recording.flv(video: encoder.format))
        let stream = try file.stream()
        #expect(stream["color_range"] == range)
        #expect(stream["color_space"] == matrix)
        #expect(stream["color_primaries"] == primaries)
        #expect(stream["color_transfer"] == transfer)
        #expect(stream["sample_aspect_ratio"] == "1:1")
        // Samples pass as they are, whatever they mean.
        let decoded = try file.decoded("-frames:v 1 -f rawvideo")
        #expect(TestPictures.psnr(decoded[...], painted[0][...]) > 36)
    }

    @Test(
        .enabled(if: isFFmpegInstalled, "needs the ffmpeg command"),
        arguments: [
            (H264Profile.baseline, "Constrained Baseline"), (.main, "Main"), (.high, "High"),
        ])
    func profileAndSizeAreSignalled(profile: H264Profile, name: String) throws {
        var settings = Self.settings(326, 182)
        settings.profile = profile
        let encoder = try VideoEncoder(settings)
        let recording = PacketRecording()
        _ = try Self.encodeScene(encoder, frames: 5, into: recording)
        let stream = try MediaFile(recording.flv(video: encoder.format)).stream()
        #expect(stream["profile"] == name)
        #expect(stream["width"] == "326")
        #expect(stream["height"] == "182")
        #expect(stream["has_b_frames"] == "0")
    }

    /// A picture is only read, and not after the call: what is then painted on it is in no frame that was encoded.
    @Test func aPictureIsTheCallersAgainAfterTheCall() throws {
        let encoder = try VideoEncoder(Self.settings(64, 48))
        let canvas = TestPictures.canvas(of: encoder)
        TestPictures.paintScene(0, on: canvas.planes)
        let painted = TestPictures.bytes(of: canvas.planes)
        let recording = PacketRecording()
        for frame in 0..<3 {
            let time = MediaTime.milliseconds(Int64(frame) * 40)
            try encoder.encode(canvas.planes, pts: time, forceKeyframe: false, arrival: .zero, into: recording)
            #expect(TestPictures.bytes(of: canvas.planes) == painted)
            canvas.planes.y.update(repeating: 255, count: 64)
            TestPictures.paintScene(0, on: canvas.planes)
        }
        // A static screen costs next to nothing.
        #expect(recording.packets.dropFirst(2).allSatisfy { $0.bytes.count < 100 })
    }

    /// An encoder that takes another's place with less memory goes on with the same stream: the same parameter sets, a
    /// keyframe, times that rise, and what is painted is what is decoded.
    @Test(
        .enabled(if: isFFmpegInstalled, "needs the ffmpeg command"),
        arguments: ["superfast", "veryfast", "medium"], [0, 2])
    func aLeanEncoderGoesOn(preset: String, bFrames: Int) throws {
        var settings = Self.settings(322, 178)
        settings.preset = preset
        settings.bFrames = bFrames
        settings.tune = bFrames == 0 ? "zerolatency" : ""
        settings.threads = 3
        var lean = try #require(VideoEncoder.lean(settings, .oneThread))
        #expect(lean.threads == 1 && VideoEncoder.lean(lean, .oneThread) == nil)
        // Without subpixel motion medium would have another picture parameter set.
        let leaner = VideoEncoder.lean(lean, .noSubpixelMotion)
        #expect((leaner == nil) == (preset == "medium"))
        lean = leaner ?? lean
        #expect(VideoEncoder.lean(lean, .noSubpixelMotion) == nil)
        let recording = PacketRecording()
        var encoder = try VideoEncoder(settings)
        let first = encoder.format
        var painted: [[UInt8]] = []
        let canvas = TestPictures.canvas(of: encoder)
        for frame in 0..<45 {
            if frame == 15 || frame == 30 {
                try encoder.finish(into: recording)
                #expect(!encoder.endsWithKeyframe)
                encoder = try VideoEncoder(frame == 15 ? lean : settings, continuing: encoder.continuation)
                #expect(encoder.format == first)
            }
            TestPictures.paintScene(frame, on: canvas.planes)
            painted.append(TestPictures.bytes(of: canvas.planes))
            let time = MediaTime(sample: Int64(frame), rate: 30)
            try encoder.encode(canvas.planes, pts: time, forceKeyframe: false, arrival: .zero, into: recording)
        }
        try encoder.finish(into: recording)
        #expect(recording.packets.count == 45)
        #expect(zip(recording.packets, recording.packets.dropFirst()).allSatisfy { $0.info.dts < $1.info.dts })
        #expect(recording.packets.filter { $0.info.isKeyframe }.map { $0.info.pts.milliseconds } == [0, 500, 1000])
        let decoded = try MediaFile(recording.flv(video: first)).decoded("-f rawvideo")
        try #require(decoded.count == painted.reduce(0) { $0 + $1.count })
        for (index, picture) in painted.enumerated() {
            let range = (index * picture.count)..<((index + 1) * picture.count)
            #expect(TestPictures.psnr(decoded[range], picture[...]) > 34, "frame \(index)")
        }
    }

    /// One effort takes another's place in the middle of a stream, and so does one without subpixel motion.
    @Test func everyEffortHasTheSameParameterSets() throws {
        var settings = Self.settings(322, 178)
        settings.threads = 2
        var formats: [VideoTrackFormat] = []
        for effort in VideoEffort.allCases {
            settings.effort = effort
            formats.append(try VideoEncoder(settings).format)
            for saving in EncoderSavings.each {
                formats.append(try VideoEncoder(#require(VideoEncoder.lean(settings, saving))).format)
            }
        }
        #expect(formats.count == 9 && formats.allSatisfy { $0 == formats[0] })
    }

    /// Bug: what followed a keyframe was taken back, and another encoder began with a keyframe of the same number.
    @Test func whatIsTakenBackMayLeaveAKeyframeAtTheEnd() throws {
        let encoder = try VideoEncoder(Self.settings(322, 178))
        let recording = PacketRecording()
        let canvas = TestPictures.canvas(of: encoder)
        func encode(_ frame: Int) throws {
            TestPictures.paintScene(frame, on: canvas.planes)
            try encoder.encode(
                canvas.planes, pts: MediaTime(sample: Int64(frame), rate: 30), forceKeyframe: frame == 5 || frame == 8,
                arrival: .zero, epoch: frame < 8 ? 0 : 1, into: recording)
        }
        for frame in 0..<8 { try encode(frame) }
        #expect(!encoder.endsWithKeyframe)
        encoder.goBack(to: MediaTime(sample: 5, rate: 30), epoch: 1)
        #expect(encoder.endsWithKeyframe)
        for frame in 8..<10 { try encode(frame) }
        #expect(!encoder.endsWithKeyframe)
    }

    /// Bug: an encoder that holds frames was replaced while it held a keyframe, and two of the same number were in a
    /// row.
    @Test(arguments: [(0, "zerolatency"), (2, "")]) func aKeyframeThatIsHeldIsKnown(bFrames: Int, tune: String) throws {
        var settings = Self.settings(322, 178)
        (settings.bFrames, settings.tune) = (bFrames, tune)
        let encoder = try VideoEncoder(settings)
        let recording = PacketRecording()
        let canvas = TestPictures.canvas(of: encoder)
        for frame in 0..<20 {
            TestPictures.paintScene(frame, on: canvas.planes)
            let time = MediaTime(sample: Int64(frame), rate: 30)
            let isForced = frame == 12 || frame == 19
            try encoder.encode(canvas.planes, pts: time, forceKeyframe: isForced, arrival: .zero, into: recording)
            if frame > 8 { #expect(encoder.endsWithKeyframe == isForced, "frame \(frame)") }
        }
        #expect(encoder.holdsFrames == (tune == ""))
        try encoder.finish(into: recording)
        #expect(recording.packets.last?.info.isKeyframe == true && encoder.endsWithKeyframe)
    }

    /// The options are x264's: what it does not know is refused, and an effort's reach it.
    @Test func anEffortIsRefusedByOtherEncoders() throws {
        var settings = Self.settings(322, 178)
        settings.effort = .normal
        settings.encoder = "libopenh264"
        #expect(throws: EncodingError.invalidSetting("an effort is for libx264 and not for libopenh264")) {
            try VideoEncoder(settings)
        }
    }

    @Test func everyEvenSizeOpensAndIsAnnounced() throws {
        var sizes = stride(from: 16, through: 80, by: 2).map { ($0, 96 - $0) }
        sizes += [(4096, 16), (16, 4096)]
        for (width, height) in sizes {
            let encoder = try VideoEncoder(Self.settings(width, height))
            let canvas = TestPictures.canvas(of: encoder)
            let recording = PacketRecording()
            try encoder.encode(canvas.planes, pts: .zero, forceKeyframe: false, arrival: .zero, into: recording)
            #expect(recording.packets.count == 1)
            let configuration = try AVCDecoderConfiguration(extradata: encoder.format.decoderConfiguration)
            #expect(configuration.parameters.width == width)
            #expect(configuration.parameters.height == height)
        }
    }

    /// With B-frames and lookahead the encoder holds frames back; all come out, in decoding order.
    @Test(.enabled(if: isFFmpegInstalled, "needs the ffmpeg command")) func finishDrainsEveryFrame() throws {
        var settings = Self.settings(160, 96)
        settings.bFrames = 2
        settings.tune = ""
        let encoder = try VideoEncoder(settings)
        let canvas = TestPictures.canvas(of: encoder)
        let recording = PacketRecording()
        let painted = try Self.encodeScene(encoder, frames: 40, into: recording)
        #expect(recording.packets.count < 40)
        #expect(encoder.holdsFrames)
        let last = try #require(recording.packets.last).info
        #expect(last.encoderDelay == MediaTime(sample: 39, rate: 30) - last.dts)
        try encoder.finish(into: recording)
        try encoder.finish(into: recording)

        #expect(!encoder.holdsFrames)
        let infos = recording.packets.map(\.info)
        let times = (0..<40).map { MediaTime(sample: Int64($0), rate: 30) }
        #expect(infos.map(\.pts).sorted() == times)
        #expect(infos.map(\.pts) != times, "B-frames are coded after what they refer to")
        #expect(zip(infos, infos.dropFirst()).allSatisfy { $0.dts < $1.dts })
        #expect(infos.allSatisfy { $0.dts <= $0.pts })
        #expect(infos.allSatisfy { $0.arrival == $0.pts + .seconds(7) })
        #expect(infos.contains { $0.priority == .disposable })
        let decoded = try MediaFile(recording.flv(video: encoder.format)).decoded("-f rawvideo")
        #expect(decoded.count == painted.reduce(0) { $0 + $1.count })
        #expect(throws: EncodingError.finished(encoder: "libx264")) {
            try encoder.encode(canvas.planes, pts: .seconds(9), forceKeyframe: false, arrival: .zero, into: recording)
        }
    }

    @Test func refusesWithTheReasonAndTheWayOut() throws {
        func error(_ change: (inout VideoEncoderSettings) -> Void) -> EncodingError? {
            var settings = Self.settings(64, 48)
            change(&settings)
            return #expect(throws: EncodingError.self) { _ = try VideoEncoder(settings) }
        }
        let unknown = try #require(error { $0.encoder = "libx999" })
        #expect(unknown.description.hasPrefix("encoder libx999 is not in this libavcodec; it has "))
        #expect(unknown.description.contains("libx264"))
        let audio = try #require(error { $0.encoder = "aac" })
        #expect(audio.description.hasPrefix("encoder aac does not make \(VideoCodec.names); this libavcodec has "))
        #expect(error { $0.encoder = "h264_vaapi" } == .inputFormat(encoder: "h264_vaapi", accepts: ["vaapi"]))
        for (name, value, change): (String, String, (inout VideoEncoderSettings) -> Void) in [
            ("nonsense", "1", { $0.options = [.init("nonsense", "1")] }), ("preset", "warp", { $0.preset = "warp" }),
            ("tune", "film,warp", { $0.tune = "film,warp" }), ("crf", "23", { $0.options = [.init("crf", "23")] }),
            ("x264-params", "ref=2:nal-hrd=cbr", { $0.options = [.init("x264-params", "ref=2:nal-hrd=cbr")] }),
        ] {
            guard case .option("libx264", name, value, _) = error(change) else {
                Issue.record("\(name)=\(value) was taken")
                return
            }
        }
        for (name, value, reason) in [
            ("preset", "slow", "preset is decided by video.preset"),
            ("g", "10", "g is decided by video.keyframe_interval_ms"),
            ("x264-params", "no-deblock", "it is not a list of name=value:name=value"),
            ("x264-params", "me=hex:no_sliced_threads=1", "no_sliced_threads is decided by video.threads"),
            ("x264opts", "TFF=1", "TFF is not available: pictures are progressive"),
            ("x264-params", "'crf' =23", "crf is decided by video.bitrate_kbps and video.vbv_ms"),
        ] {
            let refused = EncodingError.option(encoder: "libx264", name: name, value: value, reason: reason)
            #expect(error { $0.options = [.init(name, value)] } == refused)
        }
        for (list, value, reason) in [
            ("x264opts", "warp=1", "bad option 'warp': '1'"), ("x264opts", "nr=many", "bad value for 'nr': 'many'"),
            ("x264-params", "nr=100:warp=1", "Error parsing option 'warp = 1'"),
            ("x264-params", "nr=many", "Error parsing option 'nr = many'"),
        ] {
            let refused = EncodingError.option(encoder: "libx264", name: list, value: value, reason: reason)
            #expect(error { $0.options = [.init(list, value)] } == refused)
        }
        for change: (inout VideoEncoderSettings) -> Void in [
            { $0.canvas.width = 63 }, { $0.canvas.height = 14 }, { $0.canvas.width = 4098 }, { $0.bitrate = 0 },
            { $0.vbvMilliseconds = 10 }, { $0.keyframeInterval = .zero }, { $0.bFrames = 17 }, { $0.threads = 0 },
            { $0.canvas.frameRate = FrameRate(Int(Int32.max) + 1) },
        ] {
            guard case .invalidSetting = error(change) else {
                Issue.record("an impossible setting was taken")
                return
            }
        }
    }

    @Test func optionsReachTheEncoder() throws {
        var settings = Self.settings(64, 48)
        settings.options = [.init("x264-params", "level=5.1:ref=2")]
        let configuration = try AVCDecoderConfiguration(
            extradata: try VideoEncoder(settings).format.decoderConfiguration)
        #expect(configuration.parameters.level == 51)
    }
}
