import Foundation
import Testing

/// Whether the tests that have their packets decoded by ffmpeg can run.
var isFFmpegInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") }

/// ffmpeg and ffprobe on one file in a temporary folder.
final class MediaFile {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "upcast-tests-\(UUID().uuidString)")
    private let file: URL

    init(_ bytes: [UInt8]) throws {
        file = folder.appending(path: "a.flv")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The decoded first track as raw bytes; `format` has ffmpeg's output options, separated by spaces.
    func decoded(_ format: String) throws -> [UInt8] {
        let output = folder.appending(path: "decoded")
        try run("ffmpeg", ["-v", "error", "-xerror", "-nostdin", "-y", "-i", file.path]
            + format.split(separator: " ").map(String.init) + [output.path])
        return try [UInt8](Data(contentsOf: output))
    }

    /// What ffprobe says of the first stream.
    func stream() throws -> [String: String] {
        let text = try run("ffprobe", ["-v", "error", "-show_streams", "-of", "default=nw=1", file.path])
        let pairs = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    @discardableResult private func run(_ tool: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let (output, errors) = (folder.appending(path: "\(tool).out"), folder.appending(path: "\(tool).err"))
        for url in [output, errors] { try Data().write(to: url) }
        process.executableURL = URL(filePath: "/usr/bin/\(tool)")
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        let message = try text(of: errors)
        try #require(process.terminationStatus == 0 && message.isEmpty, "\(tool): \(message)")
        return try text(of: output)
    }

    /// Data(contentsOf:) leaks where a file is empty, which LeakSanitizer would report.
    private func text(of file: URL) throws -> String {
        String(decoding: try FileHandle(forReadingFrom: file).readToEnd() ?? Data(), as: UTF8.self)
    }
}
