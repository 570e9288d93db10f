import Buffering
import FLV
import MediaCore
import TestSupport
import Testing

/// The packets of an FLV file, by track.
struct FLVPackets {
    struct Packet: Equatable, CustomStringConvertible {
        var track: Track
        var timestamp: UInt32
        var compositionTime: Int32
        var isKeyframe: Bool
        var payload: [UInt8]
        /// Short, because failed expectations print whole arrays.
        var description: String { "\(track)@\(timestamp):\(payload.count)" }
    }

    var metadata: [AMF0Value] = []
    var decoderConfiguration: [UInt8] = []
    var audioSpecificConfig: [UInt8] = []
    var packets: [Packet] = []

    var video: [Packet] { packets.filter { $0.track == .video } }
    var audio: [Packet] { packets.filter { $0.track == .audio } }

    /// - Parameter file: the bytes of an FLV file, which is whole.
    init(_ file: [UInt8]) throws {
        for tag in try FLVRecording(file).tags {
            let (body, timestamp) = (Array(tag.body), UInt32(tag.timestamp))
            switch tag.type {
            case 8 where tag.isAudioSequenceHeader: audioSpecificConfig = Array(body[2...])
            case 8:
                packets.append(
                    Packet(
                        track: .audio, timestamp: timestamp, compositionTime: 0, isKeyframe: false,
                        payload: Array(body[2...])))
            case 9 where tag.isVideoSequenceHeader: decoderConfiguration = Array(body[5...])
            case 9 where body.count > 4 && body[1] == 1:
                packets.append(
                    Packet(
                        track: .video, timestamp: timestamp,
                        compositionTime: Int32(body[2]) << 16 | Int32(body[3]) << 8 | Int32(body[4]),
                        isKeyframe: body[0] >> 4 == 1, payload: Array(body[(5 + Self.delimiterBytes(body))...])))
            case 18: metadata = try AMF0Reader.values(in: body.span.bytes)
            default: break
            }
        }
    }

    /// The publisher adds access unit delimiters; the encoder's output follows them.
    private static func delimiterBytes(_ body: [UInt8]) -> Int { body[5...].starts(with: [0, 0, 0, 2, 9]) ? 6 : 0 }
}

/// Four seconds of a moving pattern and a tone, encoded by ffmpeg, like an encoder's packets in the log.
struct FLVFixture {
    /// Starts with the first keyframe, which is at time zero.
    private(set) var recording: FLVPackets
    let format: BroadcastFormat

    /// A failed requirement is reported only once, so other tests that share it would pass. Each of them gets an error
    /// of its own.
    static let shared = Result { try FLVFixture() }.mapError { SharedFailure(text: "no FLV fixture: \($0)") }

    private init() throws {
        let folder = try TemporaryDirectory("publishing")
        try ChildProcess.run("ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30",
                "-f", "lavfi", "-i", "sine=sample_rate=48000", "-t", "4",
                "-c:v", "libx264", "-preset", "ultrafast", "-g", "60", "-bf", "0", "-crf", "20", "-pix_fmt", "yuv420p",
                "-c:a", "aac", "-b:a", "96k", "-ac", "2", folder.file("fixture.flv"),
            ])
        recording = try FLVPackets(folder.bytes(of: "fixture.flv"))
        format = BroadcastFormat(
            video: VideoTrackFormat(
                codec: .h264, width: 320, height: 240, frameRate: FrameRate(30), bitrate: 1_000_000,
                decoderConfiguration: recording.decoderConfiguration, encoderName: "libx264"),
            audio: AudioTrackFormat(
                sampleRate: 48_000, channels: 2, bitrate: 96_000, audioSpecificConfig: recording.audioSpecificConfig))
        recording.packets.removeSubrange(..<(recording.packets.firstIndex { $0.isKeyframe } ?? 0))
        let start = recording.packets[0].timestamp
        for index in recording.packets.indices { recording.packets[index].timestamp -= start }
        try #require(recording.video.count == 120 && recording.audio.count > 180)
    }

    /// Writes packets to a log, `offset` later than recorded.
    func write(_ range: Range<Int>, to log: PacketLog, offset: MediaTime = .zero) {
        for packet in recording.packets[range] {
            let time = MediaTime.milliseconds(Int64(packet.timestamp)) + offset
            let priority: PacketPriority =
                packet.track == .audio ? .audio : packet.isKeyframe ? .keyframe : .reference
            let pts = time + .milliseconds(Int64(packet.compositionTime))
            log.write(
                PacketInfo(track: packet.track, pts: pts, dts: time, priority: priority),
                payload: packet.payload.span.bytes)
        }
    }

    /// A log with room for the whole fixture.
    static func log() -> PacketLog {
        PacketLog(limits: PacketLogLimits(maxBytes: 8 << 20, maxDuration: .seconds(600), maxPackets: 4096))
    }
}

struct SharedFailure: Error { var text: String }

/// ffmpeg's complaints about a file when it decodes it.
func decodingErrors(_ path: String) throws -> String {
    let ffmpeg = try ChildProcess("ffmpeg", ["-v", "error", "-xerror", "-i", path, "-f", "null", "-"])
    try ffmpeg.waitForSuccess(within: 60)
    return ffmpeg.errors
}

extension NginxRTMP {
    /// The first recording, once it has this many video packets.
    func recording(videoPackets: Int) throws -> FLVPackets {
        try waitFor("\(videoPackets) recorded frames", within: 30, evidence: { String(self.log.suffix(600)) }) {
            () -> FLVPackets? in
            guard let bytes = try bytesOfFirstRecording(), let recording = try? FLVPackets(bytes) else { return nil }
            return recording.video.count == videoPackets ? recording : nil
        }
    }
}
