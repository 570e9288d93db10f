import FrameGeometry
import Glibc
import MediaCore

func picture(of canvas: CanvasFormat) -> Picture { Picture(width: canvas.width, height: canvas.height) }

extension FrameScaler {
    /// Without `portable`, which `ScalingTests` holds to the same samples as `native`.
    static let both = [FrameScaler.native, .libyuv]
}

extension FrameIntake {
    convenience init(_ canvas: CanvasFormat, _ scaler: FrameScaler? = nil) {
        self.init(bars: CanvasBars(canvas: canvas), scaler: scaler.map { .always($0) } ?? .auto)
    }
}

/// Sends a payload through an intake band by band, as a socket reader would.
func take(
    _ payload: [UInt8], _ plan: GeometryPlan, with intake: FrameIntake? = nil, into given: Picture? = nil,
    hiding regions: SecureRegions = SecureRegions(), scaler: FrameScaler? = nil
) throws -> Picture {
    let (picture, intake) = (given ?? picture(of: plan.canvas), intake ?? FrameIntake(plan.canvas, scaler))
    try intake.begin(plan, into: picture, hiding: regions)
    try finish(payload, with: intake)
    return picture
}

/// Sends the bands that are still awaited.
func finish(_ payload: [UInt8], with intake: FrameIntake) throws {
    try payload.withUnsafeBytes { bytes in
        while let band = intake.nextBand() {
            let rows = UnsafeRawBufferPointer(rebasing: bytes[band.payloadOffset..<band.payloadOffset + band.byteCount])
            intake.bandBuffer.copyMemory(from: rows)
            try intake.bandArrived()
        }
    }
}

/// Has the bands taken from where they lie.
func takeInPlace(
    _ payload: [UInt8], _ plan: GeometryPlan, hiding regions: SecureRegions = SecureRegions(),
    scaler: FrameScaler? = nil
) throws -> Picture {
    let (intake, picture) = (FrameIntake(plan.canvas, scaler), picture(of: plan.canvas))
    try intake.begin(plan, into: picture, hiding: regions)
    // What is read beyond a row's end is there.
    try (payload + [UInt8](repeating: 0, count: 64)).withUnsafeBytes { bytes in
        while let band = intake.nextBand() { try intake.bandArrived(at: bytes.baseAddress! + band.payloadOffset) }
    }
    return picture
}

/// The canvas that a payload becomes.
func paint(_ payload: [UInt8], _ plan: GeometryPlan, scaler: FrameScaler? = nil) throws -> CanvasBytes {
    let picture = try take(payload, plan, scaler: scaler)
    return withExtendedLifetime(picture) { CanvasBytes(picture.planes) }
}

func canvasFormat(_ width: Int, _ height: Int, _ color: ColorDescription = .hd) -> CanvasFormat {
    CanvasFormat(width: width, height: height, frameRate: FrameRate(30), color: color)
}
