import Foundation
import TestSupport
import Testing

/// ffmpeg and ffprobe on one file in a temporary folder.
final class MediaFile {
    private let folder: TemporaryDirectory
    private var path: String { folder.file("a.flv") }

    init(_ bytes: [UInt8]) throws {
        folder = try TemporaryDirectory("media")
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// The decoded first track as raw bytes; `format` has ffmpeg's output options, separated by spaces.
    func decoded(_ format: String) throws -> [UInt8] {
        try run("ffmpeg", ["-v", "error", "-xerror", "-nostdin", "-y", "-i", path]
            + format.split(separator: " ").map(String.init) + [folder.file("decoded")])
        return try folder.bytes(of: "decoded")
    }

    /// What ffprobe says of the first stream.
    func stream() throws -> [String: String] {
        let text = try run("ffprobe", ["-v", "error", "-show_streams", "-of", "default=nw=1", path])
        let pairs = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    @discardableResult private func run(_ tool: String, _ arguments: [String]) throws -> String {
        let process = try ChildProcess(tool, arguments)
        try process.waitForSuccess(within: 60)
        try #require(process.errors.isEmpty, "\(process.errorTail)")
        return process.output
    }
}
