/// Bodies of FLV audio tags and RTMP audio messages for AAC (Adobe FLV specification 10.1, E.4.2).
///
/// The first byte always says AAC, 44 kHz, 16 bits, stereo, as the specification requires. Decoders read the real
/// format from the AudioSpecificConfig.
package enum FLVAudioTag {
    /// The AAC sequence header, sent once for each connection before the first packet.
    package static func sequenceHeader(audioSpecificConfig: [UInt8]) -> [UInt8] { [0xaf, 0x00] + audioSpecificConfig }

    /// The bytes before a raw AAC frame.
    package static var header: FLVTagPrefix { [0xaf, 0x01] }

    /// The codec ID of AAC in onMetaData.
    static var metadataCodecID: Double { 10 }
}
