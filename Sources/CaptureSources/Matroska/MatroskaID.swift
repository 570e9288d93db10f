/// The IDs of the elements of Matroska that are read (RFC 9559), with their marker bits.
enum MatroskaID {
    static let header: UInt32 = 0x1a45_dfa3
    static let segment: UInt32 = 0x1853_8067
    static let info: UInt32 = 0x1549_a966
    static let scale: UInt32 = 0x2a_d7b1
    static let tracks: UInt32 = 0x1654_ae6b
    static let track: UInt32 = 0xae
    static let cluster: UInt32 = 0x1f43_b675
    static let timestamp: UInt32 = 0xe7
    static let group: UInt32 = 0xa0
    static let block: UInt32 = 0xa1
    static let simpleBlock: UInt32 = 0xa3

    // In a TrackEntry.
    static let number: UInt32 = 0xd7
    static let type: UInt32 = 0x83
    static let codec: UInt32 = 0x86
    static let encodings: UInt32 = 0x6d80
    static let video: UInt32 = 0xe0
    static let width: UInt32 = 0xb0
    static let height: UInt32 = 0xba
    static let fourCC: UInt32 = 0x2eb524
    static let colour: UInt32 = 0x55b0
    static let matrix: UInt32 = 0x55b1
    static let range: UInt32 = 0x55b9
    static let transfer: UInt32 = 0x55ba
    static let audio: UInt32 = 0xe1
    static let sampleRate: UInt32 = 0xb5
    static let channels: UInt32 = 0x9f
    static let bits: UInt32 = 0x6264
}
