/// Bodies of FLV audio tags and RTMP audio messages for AAC (Adobe FLV specification 10.1, E.4.2).
///
/// The first byte says AAC, 44 kHz, 16 bits, stereo, whatever the track is: the specification wants it so, and decoders
/// take the truth from the AudioSpecificConfig.
package enum FLVAudioTag {
    /// The AAC sequence header: what a decoder needs before the first packet, once a connection.
    package static func sequenceHeader(audioSpecificConfig: [UInt8]) -> [UInt8] { [0xaf, 0x00] + audioSpecificConfig }

    /// The bytes before a raw AAC frame.
    package static var header: FLVTagPrefix { [0xaf, 0x01] }

    /// What onMetaData calls AAC.
    static var metadataCodecID: Double { 10 }
}
