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

    /// Tells players that no frame follows, so that the last one is shown at once.
    package static var endOfSequence: [UInt8] { [0x17, 0x02, 0x00, 0x00, 0x00] }
}
