import Foundation

/// The commands of the README. Tests run them as they are written.
package enum READMECommand {
    /// Each command in the code blocks for a shell, with continued lines joined.
    package static func all() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        return blocks.flatMap { block in
            block.replacing("\\\n", with: "").split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        }
    }

    /// Starts a command in a folder, with the built products on the PATH, as the leader of a process group.
    ///
    /// - Parameter socket: the capture socket.
    package static func start(
        _ command: String, in folder: TemporaryDirectory, socket: String, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let products = (try ProductExecutable.upcastSend.path as NSString).deletingLastPathComponent
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let variables = ["PATH": "\(products):\(path)", "UPCAST_SOCKET": socket].merging(environment) { $1 }
        return try ChildProcess(
            "setsid", ["bash", "-c", "cd \(folder.path) && \(command)"], environment: variables)
    }
}
