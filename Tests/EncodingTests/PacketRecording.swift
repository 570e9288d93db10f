import FLV
import MediaCore

/// A sink that keeps every packet, and can put them into an FLV file for other programs to judge.
final class PacketRecording: PacketSink, @unchecked Sendable /* used by one test on one thread */ {
    struct Packet {
        var info: PacketInfo
        var bytes: [UInt8]
    }

    private(set) var packets: [Packet] = []

    func write(_ info: PacketInfo, payload: RawSpan) {
        packets.append(Packet(info: info, bytes: payload.withUnsafeBytes { [UInt8]($0) }))
    }

    var keyframeTimes: [MediaTime] { packets.filter(\.info.isKeyframe).map(\.info.pts) }
    var totalBytes: Int { packets.reduce(0) { $0 + $1.bytes.count } }

    /// Bits a second of the packets with times in `range`.
    func bitrate(_ range: Range<MediaTime>) -> Double {
        let bytes = packets.reduce(0) { range.contains($1.info.pts) ? $0 + $1.bytes.count : $0 }
        return Double(bytes) * 8 / (range.upperBound - range.lowerBound).secondsAsDouble
    }

    /// The packets as a file, with the sequence headers of the tracks that there are.
    func flv(video: VideoTrackFormat? = nil, audio: AudioTrackFormat? = nil) -> [UInt8] {
        var file: [UInt8] = []
        append(FLVFile.header, to: &file)
        func tag(_ type: FLVTagType, at time: MediaTime, _ body: [UInt8]) {
            let timestamp = FLVTimestamp.milliseconds(time)
            append(FLVFile.tagHeader(type, bodyBytes: body.count, timestamp: timestamp), to: &file)
            file += body
            append(FLVFile.previousTagSize(bodyBytes: body.count), to: &file)
        }
        if let video {
            let body = FLVVideoTag(video.codec).sequenceHeader(decoderConfiguration: video.decoderConfiguration)
            tag(.video, at: .zero, body)
        }
        if let audio {
            tag(.audio, at: .zero, FLVAudioTag.sequenceHeader(audioSpecificConfig: audio.audioSpecificConfig))
        }
        for packet in packets {
            let info = packet.info
            let header: FLVTagPrefix
            switch info.track {
            case .video:
                let offset = Int32(info.pts.milliseconds - info.dts.milliseconds)
                let tag = FLVVideoTag(video?.codec ?? .h264)
                header = tag.header(isKeyframe: info.isKeyframe, compositionTimeMilliseconds: offset)
            case .audio: header = FLVAudioTag.header
            }
            tag(info.track == .video ? .video : .audio, at: info.dts, header.array + packet.bytes)
        }
        return file
    }

    private func append<let count: Int>(_ bytes: InlineArray<count, UInt8>, to file: inout [UInt8]) {
        for index in 0..<count { file.append(bytes[index]) }
    }
}
