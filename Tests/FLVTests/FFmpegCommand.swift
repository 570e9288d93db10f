import Foundation
import Testing

private let ffmpeg = "/usr/bin/ffmpeg"

/// Whether the tests that compare with ffmpeg can run.
var isFFmpegInstalled: Bool { FileManager.default.isExecutableFile(atPath: ffmpeg) }

/// Runs ffmpeg with arguments that are separated by single spaces, and requires that it succeeds.
func runFFmpeg(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: ffmpeg)
    process.arguments = ["-v", "error", "-nostdin"] + arguments.split(separator: " ").map(String.init)
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "ffmpeg \(arguments)")
}
