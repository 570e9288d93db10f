import Foundation

/// Whether the tests that compare with ffmpeg, or have it decode, can run.
package var isFFmpegInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") }

/// Runs ffmpeg with arguments that are separated by single spaces; throws where it fails.
package func runFFmpeg(_ arguments: String) throws {
    try ChildProcess.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments.split(separator: " ").map(String.init))
}
