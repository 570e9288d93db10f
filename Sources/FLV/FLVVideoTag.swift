package import MediaCore

/// Bodies of FLV video tags and RTMP video messages (Adobe FLV specification 10.1, E.4.3).
package struct FLVVideoTag: Sendable {
    /// The maximum size of the bytes before an access unit, for all codecs.
    package static let longestHeaderBytes = FLVTagPrefix.capacity

    private enum PacketType: UInt8 { case sequenceHeader, accessUnit }

    private let codec: VideoCodec

    package init(_ codec: VideoCodec) { self.codec = codec }

    /// The sequence header, sent once for each connection before the first frame.
    ///
    /// - Parameter decoderConfiguration: from `VideoTrackFormat`.
    package func sequenceHeader(decoderConfiguration: [UInt8]) -> [UInt8] {
        prefix(.sequenceHeader, isKeyframe: true, compositionTimeMilliseconds: 0).array + decoderConfiguration
    }

    /// The bytes before an access unit's length-prefixed NAL units.
    ///
    /// - Parameters:
    ///   - compositionTimeMilliseconds: PTS minus the timestamp, clamped to 24 bits.
    ///   - isDelimited: whether the header ends with an access unit delimiter and its four-byte length. The length of a
    ///     NAL unit of 256 to 511 bytes is 00 00 01 xx, which looks like an Annex B start code. SRS mistakes it for one
    ///     at the start of a publisher's first picture, and then refuses the stream. The length of a delimiter is
    ///     unambiguous.
    package func header(
        isKeyframe: Bool, compositionTimeMilliseconds time: Int32, isDelimited: Bool = false
    ) -> FLVTagPrefix {
        var prefix = prefix(.accessUnit, isKeyframe: isKeyframe, compositionTimeMilliseconds: time)
        if isDelimited { codec.appendDelimiter(isKeyframe: isKeyframe, to: &prefix) }
        return prefix
    }

    /// The codec ID in onMetaData.
    var metadataCodecID: Double {
        switch codec {
        case .h264: Double(Self.codecIDOfAVC)
        }
    }

    private static let codecIDOfAVC: UInt8 = 7

    private func prefix(
        _ type: PacketType, isKeyframe: Bool, compositionTimeMilliseconds: Int32
    ) -> FLVTagPrefix {
        let frameType: UInt8 = isKeyframe ? 1 : 2
        let time = UInt32(bitPattern: min(max(compositionTimeMilliseconds, -0x80_0000), 0x7f_ffff))
        var prefix = FLVTagPrefix()
        switch codec {
        case .h264:
            prefix.append(frameType << 4 | Self.codecIDOfAVC)
            prefix.append(type.rawValue)
            prefix.append(time, bytes: 3)
        }
        return prefix
    }
}
