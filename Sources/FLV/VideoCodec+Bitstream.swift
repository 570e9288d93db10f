package import MediaCore

/// The parts of the bitstream that depend on the codec. `AVCDecoderConfiguration` and `NALUnitType` belong to H.264.
extension VideoCodec {
    /// The decoder configuration record (ISO/IEC 14496-15) for an encoder's extradata, which is Annex B with start
    /// codes, or such a record.
    package func decoderConfiguration(extradata: [UInt8]) throws(CodecConfigurationError) -> [UInt8] {
        switch self {
        case .h264: try AVCDecoderConfiguration(extradata: extradata).record
        }
    }

    /// Whether access units of an FLV stream omit a NAL unit with this first byte.
    func isDroppedFromAccessUnits(unitBeginningWith header: UInt8) -> Bool {
        switch self {
        case .h264: NALUnitType(rawValue: header & 0x1f)?.isDroppedFromAccessUnits ?? false
        }
    }

    /// Whether no later frame refers to a slice with this first byte; nil for NAL units that are not slices.
    func isDisposable(unitBeginningWith header: UInt8) -> Bool? {
        switch self {
        // nal_ref_idc (ISO/IEC 14496-10, 7.4.1).
        case .h264: (1...5).contains(header & 0x1f) ? header & 0x60 == 0 : nil
        }
    }

    /// Appends an access unit delimiter with its four-byte length.
    func appendDelimiter(isKeyframe: Bool, to prefix: inout FLVTagPrefix) {
        switch self {
        case .h264:
            // ISO/IEC 14496-10, 7.3.2.4. primary_pic_type: 0 for intra slices only, 7 for any; then the stop bit.
            prefix.append(2, bytes: NALUnits.lengthBytes)
            prefix.append(NALUnitType.accessUnitDelimiter.rawValue)
            prefix.append(isKeyframe ? 0x10 : 0xf0)
        }
    }
}
