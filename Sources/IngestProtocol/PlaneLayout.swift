package import MediaCore

extension VideoSampleFormat {
    /// Checks size, strides and plane positions against the limits and a payload of `payloadBytes`.
    ///
    /// Sizes and strides are bounded first, so that no product below can overflow: rows times stride stays under 2^29.
    package func check(payloadBytes: Int, limits: IngestLimits) throws(ProtocolError) {
        let smallest = IngestLimits.sides.lowerBound
        guard (smallest...max(smallest, limits.maxWidth)).contains(width),
            (smallest...max(smallest, limits.maxHeight)).contains(height)
        else {
            throw ProtocolError(
                .badPictureSize, fatal: false,
                "video: \(width)x\(height) pixels; \(smallest)x\(smallest) to \(limits.maxWidth)x\(limits.maxHeight) "
                    + "are allowed")
        }
        var end = 0
        for index in 0..<pixelFormat.planeCount {
            let location = plane(index)
            let rowBytes = pixelFormat.plane(index).rowBytes(pictureWidth: width)
            guard (rowBytes...IngestLimits.maxStride).contains(location.stride) else {
                throw ProtocolError(
                    .badPlaneLayout, fatal: false,
                    "video: plane \(index) of \(pixelFormat.fourCC) at \(width) pixels a row requires a stride of "
                        + "\(rowBytes) to \(IngestLimits.maxStride) bytes, not \(location.stride)")
            }
            guard location.offset >= end else {
                throw ProtocolError(
                    .badPlaneLayout, fatal: false,
                    "video: plane \(index) starts at \(location.offset), before the end of the previous plane at "
                        + "\(end); planes must be in order and must not overlap")
            }
            end = location.offset + planeBytes(index)
            guard end <= payloadBytes else {
                throw ProtocolError(
                    .planeOutsidePayload, fatal: false,
                    "video: plane \(index) ends at \(end), after the payload's \(payloadBytes) bytes")
            }
        }
    }
}
