package import MediaCore

/// One raw picture: presentation time, pixel format and orientation. The pixels follow as the payload.
///
/// Every error is non-fatal: the picture is refused, its payload skipped. Decoding allocates nothing unless it fails.
package struct VideoMessage: Equatable, Sendable {
    package static let fixedBytes = 52

    /// By the client's clock, with any origin.
    package var pts: MediaTime
    package var format: VideoSampleFormat
    /// The value on the wire: 1 to 8, or 0 for none. Any other value is read as none.
    package var orientationRaw: UInt8
    /// The location of the payload in shared memory; nil if it follows.
    package var shared: SharedPayload?
    /// The secure regions of the picture.
    package var regions = SecureRegions()
    /// Whether the picture is unchanged since the last one. Then there is no payload.
    package var isUnchanged = false
    /// The damage since an earlier picture, if the client sends it.
    package var damage: DamageField?

    /// Nil if none was given or the value does not exist. The picture is then taken as it is.
    package var orientation: OrientationTag? { OrientationTag(rawValue: orientationRaw) }

    package init(pts: MediaTime, format: VideoSampleFormat, orientation: OrientationTag?) {
        self.init(pts: pts, format: format, orientationRaw: orientation?.rawValue ?? 0)
    }

    package init(
        pts: MediaTime, format: VideoSampleFormat, orientationRaw: UInt8, shared: SharedPayload? = nil
    ) {
        self.shared = shared
        self.pts = pts
        self.format = format
        self.orientationRaw = orientationRaw
    }

    /// Reads a body and checks its planes against a payload of `payloadBytes`. The result needs no further checks:
    /// size, strides and offsets are in range, and every plane lies in the payload.
    package static func decode(body: RawSpan, payloadBytes: Int, limits: IngestLimits) throws(ProtocolError)
        -> VideoMessage
    {
        try MessageBody.check(body, fixed: fixedBytes, in: .video, fatal: false)
        let regions = MessageExtensions.find(.secureRegions, in: body, from: fixedBytes)
        // This check comes first, because unclear secure regions are the most important error.
        if let regions { _ = try SecureRegionsField.check(body.extracting(regions)) }
        let (shared, ownBytes) = try payload(body: body, payloadBytes: payloadBytes, limits: limits)
        let damage = MessageExtensions.find(.damage, in: body, from: fixedBytes)
        let isUnchanged = shared == nil && payloadBytes == 0 && damage?.isEmpty == true
        let code = FourCC(rawValue: body.uint32(at: 16).byteSwapped)
        guard let pixelFormat = PixelFormat(fourCC: code) else {
            throw ProtocolError(
                .unsupportedPixelFormat, fatal: false,
                "video: pixel format \(code) is not supported; the welcome lists the supported formats")
        }
        let (width, height) = (body.size(at: 8), body.size(at: 12))
        let color = try color(
            matrix: body.uint8(at: 21), range: body.uint8(at: 22), of: pixelFormat, width: width, height: height)
        var format = VideoSampleFormat(
            width: width, height: height, pixelFormat: pixelFormat, color: color, plane0: .none)
        let planes = Int(body.uint8(at: 23))
        guard planes == pixelFormat.planeCount else {
            throw ProtocolError(
                .badPlaneLayout, fatal: false, "video: \(code) has \(pixelFormat.planeCount) planes, not \(planes)")
        }
        for index in 0..<planes {
            let at = 24 + 8 * index
            format.setPlane(index, PlaneLocation(offset: body.size(at: at), stride: body.size(at: at + 4)))
        }
        try format.check(payloadBytes: isUnchanged ? limits.maxVideoPayload : ownBytes, limits: limits)
        var message = VideoMessage(
            pts: MediaTime(nanoseconds: body.int64(at: 0)), format: format, orientationRaw: body.uint8(at: 20),
            shared: shared)
        message.isUnchanged = isUnchanged
        if let damage, !damage.isEmpty {
            message.damage = try DamageField(body.extracting(damage), pictureWidth: width, pictureHeight: height)
        }
        if let regions {
            message.regions = try SecureRegionsField.decode(
                body.extracting(regions), pictureWidth: width, pictureHeight: height)
        }
        return message
    }

    /// Whether the regions of a refused message cannot be determined: its extensions are malformed, or a critical one
    /// is unknown to this version.
    package static func hidesUnclearly(_ body: RawSpan) -> Bool {
        guard body.byteCount >= fixedBytes else { return true }
        do {
            try MessageExtensions.check(body, from: fixedBytes, in: .video, fatal: false)
            guard let value = MessageExtensions.find(.secureRegions, in: body, from: fixedBytes) else { return false }
            _ = try SecureRegionsField.check(body.extracting(value))
            return false
        } catch {
            return true
        }
    }

    /// The location and length of the payload.
    private static func payload(
        body: RawSpan, payloadBytes: Int, limits: IngestLimits
    ) throws(ProtocolError) -> (SharedPayload?, Int) {
        guard let value = MessageExtensions.find(.sharedMemory, in: body, from: fixedBytes) else {
            return (nil, payloadBytes)
        }
        let shared = try SharedPayload(body.extracting(value))
        guard payloadBytes == 0, shared.byteCount <= limits.maxVideoPayload else {
            throw ProtocolError(
                .badSharedMemory, fatal: false,
                payloadBytes > 0
                    ? "video: its payload is in shared memory, but \(payloadBytes) payload bytes follow"
                    : "video: \(shared.byteCount) bytes in shared memory; at most \(limits.maxVideoPayload) are "
                        + "allowed")
        }
        return (shared, Int(shared.byteCount))
    }

    private static func color(
        matrix: UInt8, range: UInt8, of format: PixelFormat, width: Int, height: Int
    ) throws(ProtocolError) -> ColorDescription {
        guard matrix == 0 || ColorMatrix(rawValue: matrix) != nil else {
            throw ProtocolError(
                .badColor, fatal: false,
                "video: colour matrix \(matrix) is not one of 0 (default), 1 (BT.709), 6 (BT.601), 9 (BT.2020)")
        }
        guard range <= 2 else {
            throw ProtocolError(
                .badColor, fatal: false, "video: colour range \(range) is not one of 0 (default), 1 (video), 2 (full)")
        }
        return ColorDescription(
            matrix: ColorMatrix(rawValue: matrix), range: range == 0 ? nil : range == 1 ? .video : .full,
            defaultsFor: format, width: width, height: height)
    }

    /// Appends header and body. The payload of `payloadBytes` is sent after them.
    package func encode(sequence: UInt32, payloadBytes: Int, into bytes: inout [UInt8]) {
        bytes.appendMessage(.video, sequence: sequence, payloadBytes: payloadBytes) { bytes in
            bytes.append(littleEndian: pts.nanoseconds)
            bytes.append(uint32: format.width)
            bytes.append(uint32: format.height)
            bytes.append(littleEndian: format.pixelFormat.fourCC.rawValue.byteSwapped)
            bytes.append(orientationRaw)
            bytes.append(format.color.matrix.rawValue)
            bytes.append(format.color.range == .video ? 1 : 2)
            bytes.append(UInt8(format.pixelFormat.planeCount))
            for index in 0..<3 {
                bytes.append(uint32: format.plane(index).offset)
                bytes.append(uint32: format.plane(index).stride)
            }
            bytes.append(zeros: 4)
            SecureRegionsField.append(regions, to: &bytes)
            shared?.append(to: &bytes)
            if isUnchanged {
                bytes.append(littleEndian: MessageExtensions.criticalBit | MessageExtensions.Tag.damage.rawValue)
                bytes.append(zeros: 2)
            } else {
                damage?.append(to: &bytes)
            }
        }
    }
}
