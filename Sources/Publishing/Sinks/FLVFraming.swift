internal import Buffering
internal import FLV
internal import MediaCore

/// Puts FLV headers before packets and computes their timestamps, for one RTMP connection or file.
struct FLVFraming {
    /// Free bytes that `frame` needs before a payload.
    static let headroom = FLVVideoTag.longestHeaderBytes

    private let videoTag: FLVVideoTag
    private var videoTimestamp = FLVTimestamp()
    private var audioTimestamp = FLVTimestamp()
    private var hasBegun = false

    init(_ format: BroadcastFormat) { videoTag = FLVVideoTag(format.video.codec) }

    /// The header that `frame` has put before a payload.
    struct Framed {
        var type: FLVTagType
        var timestamp: UInt32
        var compositionTime: Int32 = 0
        var headerBytes: Int
    }

    /// - Parameter start: the time that becomes timestamp zero.
    mutating func frame(_ info: PacketInfo, from start: MediaTime = .zero, in buffer: inout PacketBuffer) -> Framed {
        switch info.track {
        case .audio:
            let timestamp = audioTimestamp.next(info.dts - start)
            return Framed(type: .audio, timestamp: timestamp, headerBytes: buffer.put(FLVAudioTag.header))
        case .video:
            let timestamp = videoTimestamp.next(info.dts - start)
            let composition = FLVTimestamp.compositionTime(pts: info.pts - start, timestamp: timestamp)
            // Relays and players may begin at any keyframe.
            let isDelimited = info.isKeyframe || !hasBegun
            hasBegun = true
            let header = videoTag.header(
                isKeyframe: info.isKeyframe, compositionTimeMilliseconds: composition, isDelimited: isDelimited)
            return Framed(
                type: .video, timestamp: timestamp, compositionTime: composition, headerBytes: buffer.put(header))
        }
    }

    /// Returns the tags before the first packet: metadata and sequence headers.
    ///
    /// - Parameter isForServer: asks the server to keep the metadata for later viewers.
    static func beginning(_ format: BroadcastFormat, isForServer: Bool) -> [(type: FLVTagType, body: [UInt8])] {
        let video = FLVVideoTag(format.video.codec)
        return [
            (.script, StreamMetadata.body(format, encoder: "upcast", setDataFrame: isForServer)),
            (.audio, FLVAudioTag.sequenceHeader(audioSpecificConfig: format.audio.audioSpecificConfig)),
            (.video, video.sequenceHeader(decoderConfiguration: format.video.decoderConfiguration)),
        ]
    }
}

extension PacketBuffer {
    /// Writes a prefix directly before the payload, and returns its size.
    fileprivate mutating func put(_ prefix: FLVTagPrefix) -> Int {
        unsafe withPayload { payload in
            for index in prefix.indices {
                unsafe payload.storeBytes(of: prefix[index], toByteOffset: index - prefix.count, as: UInt8.self)
            }
        }
        return prefix.count
    }
}
