/// Bodies of FLV video tags and RTMP video messages for H.264 (Adobe FLV specification 10.1, E.4.3).
package enum FLVVideoTag {
    /// The AVC sequence header: what a decoder needs before the first frame, once a connection.
    ///
    /// - Parameter decoderConfiguration: an AVCDecoderConfigurationRecord.
    package static func sequenceHeader(decoderConfiguration: [UInt8]) -> [UInt8] {
        [0x17, 0x00, 0x00, 0x00, 0x00] + decoderConfiguration
    }

    /// The five bytes before an access unit's length-prefixed NAL units.
    ///
    /// - Parameter compositionTimeMilliseconds: PTS minus the timestamp; values that 24 bits cannot hold are
    ///   brought to the nearest that they can.
    package static func header(isKeyframe: Bool, compositionTimeMilliseconds: Int32) -> InlineArray<5, UInt8> {
        let time = UInt32(bitPattern: min(max(compositionTimeMilliseconds, -0x80_0000), 0x7f_ffff))
        return [
            isKeyframe ? 0x17 : 0x27, 0x01, UInt8(truncatingIfNeeded: time >> 16),
            UInt8(truncatingIfNeeded: time >> 8), UInt8(truncatingIfNeeded: time),
        ]
    }

    /// The same five bytes, and an access unit delimiter (ISO/IEC 14496-10, 7.3.2.4) with its length of four bytes.
    ///
    /// A NAL unit of 256 to 511 bytes has the length 00 00 01 xx, which looks like an Annex B start code. SRS takes it
    /// for one where a publisher's first picture begins so, and then refuses the stream. 00 00 00 02 can be nothing but
    /// a length.
    package static func delimitedHeader(
        isKeyframe: Bool, compositionTimeMilliseconds: Int32
    ) -> InlineArray<11, UInt8> {
        let plain = header(isKeyframe: isKeyframe, compositionTimeMilliseconds: compositionTimeMilliseconds)
        // primary_pic_type: 0 for intra slices only, 7 for any; then the stop bit.
        let pictureType: UInt8 = isKeyframe ? 0x10 : 0xf0
        return [
            plain[0], plain[1], plain[2], plain[3], plain[4], 0, 0, 0, 2, NALUnitType.accessUnitDelimiter.rawValue,
            pictureType,
        ]
    }

    /// Bytes of `delimitedHeader`, the most that stands before an access unit.
    package static let longestHeaderBytes = 11

    /// Tells players that no frame follows, so that the last one is shown at once.
    package static var endOfSequence: [UInt8] { [0x17, 0x02, 0x00, 0x00, 0x00] }
}
