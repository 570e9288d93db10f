internal import ArgumentParser
internal import Encoding
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// An encoder by itself: what it holds, and what a frame costs. One configuration a process, so that nothing of
/// another is in the figure.
struct EncoderBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoder", abstract: "Anonymous memory of an encoder, and milliseconds for one frame of noise.")

    @Option(help: "The encoder's name in libavcodec.") var encoder = "libx264"
    @Option(help: "Width and height of the canvas.") var canvas = "1280x720"
    @Option(help: "The encoder's preset.") var preset = "veryfast"
    @Option(help: "low, normal or high, instead of a preset.") var effort: String?
    @Flag(help: "Without subpixel motion.") var withoutSubpixelMotion = false
    @Option(help: "Kilobits a second.") var bitrate = 2500
    @Option(help: "Threads.") var threads = 1
    @Option(help: "NAME=VALUE: a further option of the encoder.") var option: [String] = []
    @Option(help: "Frames.") var frames = 90

    func run() throws {
        ProcessMemory.limitOverhead()
        let (width, height) = try Size.parse(canvas)
        let format = CanvasFormat(width: width, height: height, frameRate: FrameRate(30))
        var settings = VideoEncoderSettings(canvas: format, bitrate: bitrate * 1000)
        settings.encoder = self.encoder
        settings.preset = preset
        settings.subpixelMotion = !withoutSubpixelMotion
        if let effort {
            guard let known = VideoEffort(rawValue: effort) else {
                throw ValidationError("there is no effort \(effort)")
            }
            settings.effort = known
        }
        settings.threads = threads
        for text in option {
            let (name, value) = (text.prefix { $0 != "=" }, text.drop { $0 != "=" }.dropFirst())
            settings.options.append(.init(String(name), String(value)))
        }

        // Noise that moves: every block has something to search for.
        let picture = Picture(width: width, height: height)
        let planes = picture.planes
        var random = UInt32(1)
        func paint(_ start: UnsafeMutablePointer<UInt8>, _ bytes: Int) {
            for index in 0..<bytes {
                random = random &* 1_664_525 &+ 1_013_904_223
                unsafe start[index] = UInt8(truncatingIfNeeded: 64 + random >> 25)
            }
        }
        unsafe paint(planes.y, planes.yStride * height)
        unsafe paint(planes.u, planes.uStride * height)
        let before = try Self.anonymousKilobytes()
        let encoder = try VideoEncoder(settings)
        let sink = NoSink()
        var peak = before
        let start = Stopwatch.nanoseconds()
        for frame in 0..<frames {
            unsafe paint(planes.y + frame % height / 2 * planes.yStride, planes.yStride * height / 2)
            try encoder.encode(
                planes, pts: MediaTime(sample: Int64(frame), rate: 30), forceKeyframe: false, arrival: .zero,
                into: sink)
            peak = max(peak, try Self.anonymousKilobytes())
        }
        let milliseconds = Double(Stopwatch.nanoseconds() - start) / Double(frames) / 1_000_000
        withExtendedLifetime(picture) {}
        print(
            #"{"bench": "encoder", "encoder": "\#(settings.encoder)", "canvas": "\#(canvas)", "#
                + #""preset": "\#(effort ?? preset)", "#
                + #""subpixel_motion": \#(!withoutSubpixelMotion), "threads": \#(threads), "#
                + #""anonymous_kb": \#(peak - before), "#
                + #""estimated_kb": \#(VideoEncoder.estimatedBytes(settings) / 1024), "ms": \#(milliseconds)}"#)
    }

    /// RssAnon of this process.
    private static func anonymousKilobytes() throws -> Int {
        guard let file = unsafe fopen("/proc/self/status", "r") else { throw ValidationError("no /proc") }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("RssAnon:") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        throw ValidationError("no RssAnon in /proc/self/status")
    }
}

private final class NoSink: PacketSink {
    func write(_ info: PacketInfo, payload: RawSpan) {}
}
