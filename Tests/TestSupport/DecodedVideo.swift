import Foundation
import Glibc
import LinuxSystem

/// The decoded frames of a recording, with their times. Only one frame at a time is in memory.
package enum DecodedVideo {
    package struct Frame {
        package let index: Int
        /// In seconds, from the container.
        package let pts: Double
        package let image: I420Image
    }

    /// Decodes the video track of `path` and passes every frame to `body`. Returns the number of frames.
    ///
    /// Frames come as they were encoded, without rate or colour conversion. Throws if a packet yields no frame.
    @discardableResult
    package static func forEachFrame(
        of path: String, within seconds: Double = 120, _ body: (Frame) throws -> Void
    ) throws -> Int {
        guard let video = try MediaProbe.streams(path).first(where: { $0.codec_type == "video" }),
            let width = video.width, let height = video.height
        else { throw TestFailure("\(path) has no video track") }
        guard video.pix_fmt == "yuv420p" else { throw TestFailure("video is \(video.pix_fmt ?? "?"), not yuv420p") }
        let times = try MediaProbe.packets(path).filter { $0.track == "video" }.map(\.pts).sorted()

        let pipe = try Pipe()
        let ffmpeg = try ChildProcess(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "passthrough",
                "-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1",
            ], output: .descriptor(pipe.writing.raw))
        // A decoder that hangs is killed, so that the loop below ends.
        let deadline = DispatchWorkItem { [weak ffmpeg] in ffmpeg?.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + Patience.scaled(seconds), execute: deadline)
        defer { deadline.cancel() }

        let reading = pipe.reader()
        var bytes = [UInt8](repeating: 0, count: I420Image.byteCount(width: width, height: height))
        var count = 0
        while try readExactly(reading.raw, into: &bytes) {
            guard count < times.count else { throw TestFailure("more frames than packets in \(path)") }
            let image = I420Image(width: width, height: height, bytes: bytes)
            try body(Frame(index: count, pts: times[count], image: image))
            count += 1
        }
        try ffmpeg.waitForSuccess(within: 10)
        guard count == times.count else {
            throw TestFailure("\(times.count) packets but \(count) frames in \(path). \(ffmpeg.errorTail)")
        }
        return count
    }

    /// The last frame.
    package static func lastFrame(of path: String) throws -> Frame {
        var last: Frame?
        try forEachFrame(of: path) { last = $0 }
        guard let last else { throw TestFailure("\(path) has no frame") }
        return last
    }

    private static func readExactly(_ descriptor: CInt, into bytes: inout [UInt8]) throws -> Bool {
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + filled, $0.count - filled) }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Errno.current }
            if got == 0 {
                guard filled == 0 else { throw TestFailure("the last frame is cut off") }
                return false
            }
            filled += got
        }
        return true
    }
}
