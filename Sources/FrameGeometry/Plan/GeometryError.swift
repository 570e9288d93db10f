/// Why a frame could not be converted. The frame is lost; the next one is not affected.
package enum GeometryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A plane's rows are shorter than its samples, or the plane begins before the end of the previous one.
    case badPlaneLayout(plane: Int, offset: Int, stride: Int, leastOffset: Int, leastStride: Int)
    /// The picture does not have the canvas's size.
    case sizeMismatch(expectedWidth: Int, expectedHeight: Int, width: Int, height: Int)
    /// Bytes arrived while no band was expected: before `begin`, after the last band or after `cancel`.
    case noBandAwaited

    package var description: String {
        switch self {
        case .badPlaneLayout(let plane, let offset, let stride, let leastOffset, let leastStride):
            "plane \(plane) at offset \(offset) with stride \(stride) does not fit its picture: "
                + "the offset must be at least \(leastOffset), the stride at least \(leastStride)"
        case .sizeMismatch(let expectedWidth, let expectedHeight, let width, let height):
            "the plan is for \(expectedWidth)x\(expectedHeight), not for \(width)x\(height)"
        case .noBandAwaited:
            "bytes of a frame came while no frame was begun"
        }
    }
}
