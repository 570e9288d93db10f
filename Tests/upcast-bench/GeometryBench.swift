internal import ArgumentParser
internal import CLibYUV
internal import FrameGeometry
internal import MediaCore

/// A frame in memory is brought onto the canvas: cropped, converted, scaled, turned, painted.
struct GeometryBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geometry", abstract: "Milliseconds of processor time for one frame, from memory to the canvas.")

    @Option(help: "Width and height of the frame, as stored.") var source = "1920x1080"
    @Option(help: "FourCC of the frame's pixel format.") var format = "420v"
    @Option(help: "Width and height of the canvas.") var canvas = "720x1280"
    @Option(help: "EXIF orientation of the frame, 1 to 8.") var orientation = 6
    @Option(help: "fit, fill or stretch.") var fit = "fit"
    @Option(help: "native, portable (native without AVX2) or libyuv; several with commas, measured in turn.")
    var scaler = FrameScaler.native.rawValue
    @Flag(help: "libyuv uses nothing beyond SSSE3.") var ssse3 = false
    @Option(help: "Rounds; the median counts.") var rounds = 7
    @Option(help: "Frames in a round.") var frames = 30

    func run() throws {
        let (width, height) = try Size.parse(source)
        let (canvasWidth, canvasHeight) = try Size.parse(canvas)
        guard let tag = UInt8(exactly: orientation).flatMap(OrientationTag.init(rawValue:)) else {
            throw ValidationError("--orientation: 1 to 8, not \(orientation)")
        }
        guard let pixelFormat = PixelFormat.allCases.first(where: { "\($0.fourCC)" == format }) else {
            throw ValidationError("--format: there is no \(format)")
        }
        guard let mode = [("fit", FitMode.fit), ("fill", .fill), ("stretch", .stretch)].first(where: { $0.0 == fit })
        else { throw ValidationError("--fit: fit, fill or stretch, not \(fit)") }
        let scalers = try scaler.split(separator: ",").map { name in
            guard let scaler = FrameScaler(rawValue: String(name)) else {
                throw ValidationError("--scaler: native, portable or libyuv, not \(name)")
            }
            return scaler
        }

        let canvasFormat = CanvasFormat(width: canvasWidth, height: canvasHeight, frameRate: FrameRate(30))
        let sample = VideoSampleFormat(packed: pixelFormat, width: width, height: height)
        let transform = OrientationConvention.exif.uprightTransform(for: tag)
        let plan = GeometryPlan(source: sample, transform: transform, canvas: canvasFormat, fit: mode.1)

        let payload = UnsafeMutableRawBufferPointer.allocate(
            byteCount: sample.minimumPayloadBytes + 4096, alignment: 64)
        defer { unsafe payload.deallocate() }
        // Noise, so that nothing is cheap by chance.
        var state: UInt32 = 1
        for index in payload.indices {
            state = state &* 1_664_525 &+ 1_013_904_223
            unsafe payload[index] = UInt8(truncatingIfNeeded: state >> 24)
        }
        let picture = Picture(width: canvasWidth, height: canvasHeight)
        if ssse3 { MaskCpuFlags(kCpuInitialized | kCpuHasX86 | kCpuHasSSE2 | kCpuHasSSSE3) }
        let times = try Stopwatch.measure(
            rounds: rounds, count: frames,
            inTurn: scalers.map { scaler in
                let intake = FrameIntake(bars: CanvasBars(canvas: canvasFormat), scaler: .always(scaler))
                return {
                    try intake.begin(plan, into: picture)
                    while let band = intake.nextBand() {
                        try unsafe intake.bandArrived(at: payload.baseAddress! + band.payloadOffset)
                    }
                }
            })
        for (scaler, time) in zip(scalers, times) {
            print(
                #"{"bench": "geometry", "source": "\#(source)", "format": "\#(format)", "canvas": "\#(canvas)", "#
                    + #""orientation": \#(orientation), "fit": "\#(fit)", "scaler": "\#(scaler)", "ssse3": \#(ssse3), "#
                    + time.fields(divisor: 1_000_000, unit: "ms") + "}")
        }
    }
}
