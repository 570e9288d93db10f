/// Why a frame could not be turned into a picture; the frame is lost, the next one is not affected.
package enum GeometryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A plane's rows are shorter than its samples, or the plane starts before the one ahead of it has ended.
    case badPlaneLayout(plane: Int, offset: Int, stride: Int, leastOffset: Int, leastStride: Int)
    /// The picture that was handed in is not of the canvas's size.
    case sizeMismatch(expectedWidth: Int, expectedHeight: Int, width: Int, height: Int)
    /// Bytes came while no band was awaited: before `begin`, after the last band or after `cancel`.
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
