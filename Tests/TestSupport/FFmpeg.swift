import Foundation

/// Whether tests that compare with ffmpeg, or decode with it, can run.
package var isFFmpegInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") }

/// Runs ffmpeg with arguments that are separated by single spaces. Throws if it fails.
package func runFFmpeg(_ arguments: String) throws {
    try ChildProcess.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments.split(separator: " ").map(String.init))
}
