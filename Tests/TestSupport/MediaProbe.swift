import Foundation

/// The findings of ffprobe and ffmpeg, as independent judges, about a recording.
package enum MediaProbe {
    package struct Stream: Decodable, Sendable {
        package let codec_type: String
        package let codec_name: String
        package let profile: String?
        package let width: Int?
        package let height: Int?
        package let pix_fmt: String?
        package let color_range: String?
        package let color_space: String?
        package let has_b_frames: Int?
        package let sample_rate: String?
        package let channels: Int?
    }

    package struct Packet: Sendable {
        package let track: String
        /// Seconds.
        package let pts: Double
        package let dts: Double
        package let isKeyframe: Bool
    }

    /// The tracks of the container.
    package static func streams(_ path: String) throws -> [Stream] {
        struct Answer: Decodable { let streams: [Stream] }
        return try JSONDecoder().decode(Answer.self, from: ffprobe(["-show_streams", path])).streams
    }

    /// Every packet in file order.
    package static func packets(_ path: String) throws -> [Packet] {
        struct Answer: Decodable {
            struct Packet: Decodable {
                let codec_type: String
                let pts_time: String?
                let dts_time: String?
                let flags: String
            }
            let packets: [Packet]
        }
        let entries = "packet=codec_type,pts_time,dts_time,flags"
        let answer = try JSONDecoder().decode(
            Answer.self, from: ffprobe(["-show_packets", "-show_entries", entries, path]))
        return try answer.packets.map {
            guard let pts = Double($0.pts_time ?? ""), let dts = Double($0.dts_time ?? "") else {
                throw TestFailure("a \($0.codec_type) packet of \(path) has no timestamp")
            }
            return Packet(track: $0.codec_type, pts: pts, dts: dts, isKeyframe: $0.flags.hasPrefix("K"))
        }
    }

    /// The complaints of a decoder that stops at the first error; empty if everything decodes.
    package static func decodingErrors(_ path: String, within seconds: Double = 60) throws -> String {
        // Frames keep their own times. At a constant rate, two frames in close succession would count as an error.
        let ffmpeg = try ChildProcess(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-xerror", "-i", path, "-map", "0", "-fps_mode", "passthrough",
                "-enc_time_base", "-1", "-f", "null", "-",
            ])
        guard let exit = ffmpeg.waitForExit(within: seconds) else {
            return "decoding took longer than \(Patience.scaled(seconds)) s"
        }
        return exit == .code(0) ? ffmpeg.errors : "ffmpeg ended with \(exit): \(ffmpeg.errors)"
    }

    /// Writes a picture as PNG, for people to look at.
    package static func writePNG(_ image: I420Image, to path: String) throws {
        let folder = try TemporaryDirectory("png")
        try Data(image.y + image.u + image.v).write(to: URL(fileURLWithPath: folder.file("raw")))
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-colorspace", "bt709",
                "-video_size", "\(image.width)x\(image.height)", "-i", folder.file("raw"),
                "-vf", "scale=in_color_matrix=bt709:in_range=tv", "-frames:v", "1", path,
            ])
    }

    private static func ffprobe(_ arguments: [String]) throws -> Data {
        Data(try ChildProcess.run("ffprobe", ["-v", "error", "-of", "json"] + arguments).utf8)
    }
}
