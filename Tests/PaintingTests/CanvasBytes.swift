import FrameGeometry
import MediaCore

/// A canvas as three arrays, for comparisons.
struct CanvasBytes: Equatable {
    let width: Int
    let height: Int
    let y: [UInt8]
    let u: [UInt8]
    let v: [UInt8]

    init(_ picture: Picture) {
        func rows(_ start: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) -> [UInt8] {
            (0..<height).flatMap { Array(UnsafeBufferPointer(start: start + $0 * stride, count: width)) }
        }
        let planes = picture.planes
        (width, height) = (planes.width, planes.height)
        y = rows(planes.y, planes.yStride, width, height)
        u = rows(planes.u, planes.uStride, width / 2, height / 2)
        v = rows(planes.v, planes.vStride, width / 2, height / 2)
        withExtendedLifetime(picture) {}
    }
}

func canvasFormat(_ width: Int, _ height: Int) -> CanvasFormat {
    CanvasFormat(width: width, height: height, frameRate: FrameRate(30), color: .hd)
}

/// Brings a payload onto a canvas band by band, as ingest does.
func take(_ payload: [UInt8], _ plan: GeometryPlan, with intake: FrameIntake, into picture: Picture) throws {
    try intake.begin(plan, into: picture)
    try payload.withUnsafeBytes { bytes in
        while let band = intake.nextBand() {
            let rows = UnsafeRawBufferPointer(rebasing: bytes[band.payloadOffset..<band.payloadOffset + band.byteCount])
            intake.bandBuffer.copyMemory(from: rows)
            try intake.bandArrived()
        }
    }
}
