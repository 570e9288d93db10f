internal import ArgumentParser
internal import FrameGeometry
internal import Glibc
internal import MediaCore

/// Scales raw frames as the daemon does: what its recordings are compared with, so that only the encoder's loss counts.
struct ScaleFrames: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Scales BGRX frames from standard input to the canvas (BT.709); NV12 goes to standard output.")

    @Option(help: "Width and height of the frames.") var source = "1920x1080"
    @Option(help: "Width and height of the canvas.") var canvas = "1280x720"

    func run() throws {
        let (width, height) = try Size.parse(source)
        let (canvasWidth, canvasHeight) = try Size.parse(canvas)
        let canvasFormat = CanvasFormat(width: canvasWidth, height: canvasHeight, frameRate: FrameRate(30))
        let plan = GeometryPlan(
            // As upcast-screen describes a screen.
            source: VideoSampleFormat(
                packed: .bgra, width: width, height: height, color: ColorDescription(matrix: .bt709, range: .full)),
            transform: .identity, canvas: canvasFormat, fit: .fit)
        let intake = FrameIntake(bars: CanvasBars(canvas: canvasFormat), scaler: .always(.native))
        let picture = Picture(width: canvasWidth, height: canvasHeight)
        var frame = [UInt8](repeating: 0, count: 4 * width * height)
        while try unsafe frame.withUnsafeMutableBytes({ try unsafe read($0) }) {
            try intake.begin(plan, into: picture)
            try unsafe frame.withUnsafeBytes { bytes in
                while let band = intake.nextBand() {
                    try unsafe intake.bandArrived(at: bytes.baseAddress! + band.payloadOffset)
                }
            }
            try write(picture.planes)
        }
    }

    /// False at the end of the input.
    private func read(_ frame: UnsafeMutableRawBufferPointer) throws -> Bool {
        var count = 0
        while count < frame.count {
            let more = unsafe Glibc.read(STDIN_FILENO, frame.baseAddress! + count, frame.count - count)
            guard more > 0 else { break }
            count += more
        }
        guard count == 0 || count == frame.count else { throw ValidationError("the last frame is not whole") }
        return count > 0
    }

    private func write(_ planes: PicturePlanes) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(planes.width * planes.height * 3 / 2)
        for y in 0..<planes.height {
            unsafe bytes += UnsafeBufferPointer(start: planes.y + y * planes.yStride, count: planes.width)
        }
        for y in 0..<(planes.height + 1) / 2 {
            for x in 0..<(planes.width + 1) / 2 {
                unsafe bytes.append(planes.u[y * planes.uStride + x])
                unsafe bytes.append(planes.v[y * planes.vStride + x])
            }
        }
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress! + count, $0.count - count)
            }
            guard more > 0 else { throw ValidationError("standard output takes no more") }
            count += more
        }
    }
}
