import Foundation
import Glibc

/// The settings of a test in the daemon's configuration; all others keep their defaults.
package struct DaemonSettings: Sendable {
    package var video: [String: String] = [:]
    package var audio: [String: String] = [:]
    package var buffer: [String: String] = [:]
    package var ingest: [String: String] = [:]
    package var stop: [String: String] = [:]
    package var memory: [String: String] = [:]
    package var control: [String: String] = [:]
    package var privacy: [String: String] = [:]
    package var destinations: [(name: String, fields: [String: String])] = []
    package var webhooks: [[String: String]] = []
    /// Applied to every RTMP destination that is added later.
    package var destinationFields: [String: String] = [:]

    /// A small canvas with a bit rate at which the encoder hardly changes the picture.
    package init(width: Int = 640, height: Int = 360, fit: String = "fit", bitrateKilobits: Int = 8_000) {
        video = [
            "width": "\(width)", "height": "\(height)", "fit": fit, "bitrate_kbps": "\(bitrateKilobits)",
            // Many daemons run at the same time on few cores, where the effort would change.
            "threads": "1", "adaptive_effort": "false",
        ]
    }

    /// Publishes to `url` with the stream key in an environment variable, as an operator would.
    package mutating func publish(to url: String, name: String = "main") {
        destinations.append((name, ["url": url, "key_env": Self.keyVariable].merging(destinationFields) { $1 }))
    }

    package static let keyVariable = "UPCAST_TEST_STREAM_KEY"
    /// The stream key of every test; it must not appear in any log or status.
    package static let streamKey = "s3cret-end-to-end"

    func yaml(ingestSocket: String, controlSocket: String) -> String {
        func section(_ name: String, _ fields: [String: String]) -> String {
            guard !fields.isEmpty else { return "" }
            return "\(name):\n" + fields.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)\n" }.joined()
        }
        var text = section("ingest", ingest.merging(["socket": ingestSocket]) { $1 })
        text += section("control", control.merging(["socket": controlSocket]) { $1 })
        text += section("video", video) + section("audio", audio) + section("buffer", buffer) + section("stop", stop)
        text += section("privacy", privacy)
        // The memory that a sanitizer needs must not make the daemon give anything up.
        let room = Patience.factor > 1 ? ["cap_bytes": "4096MiB"] : [:]
        text += section("memory", room.merging(memory) { $1 })
        if !webhooks.isEmpty { text += "webhooks:\n" }
        for hook in webhooks {
            text += "  -\n" + hook.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value)\n" }.joined()
        }
        if !destinations.isEmpty {
            text += "destinations:\n"
            for destination in destinations {
                text += "  - name: \(destination.name)\n"
                text += destination.fields.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value)\n" }.joined()
            }
        }
        return text
    }
}

/// The real `upcastd`, in its own process and folder.
package final class Daemon: Sendable {
    package let process: ChildProcess
    package let ingestSocket: String
    package let controlSocket: String
    private let folder: TemporaryDirectory
    private let command: (executable: String, arguments: [String], environment: [String: String])

    /// Starts a daemon that replaces one that has ended, with its configuration and at its sockets.
    ///
    /// - Parameter waits: whether to wait until it answers; otherwise the caller retries until it does.
    package init(after other: Daemon, waits: Bool = true) throws {
        (folder, command) = (other.folder, other.command)
        (ingestSocket, controlSocket) = (other.ingestSocket, other.controlSocket)
        process = try Self.start(command, waits ? controlSocket : nil)
    }

    /// Starts the daemon and waits until clients can connect.
    ///
    /// - Parameters:
    ///   - environment: variables in addition to the stream key.
    ///   - isActivated: whether another process creates the capture socket and passes it on, like a service manager.
    package init(
        _ settings: DaemonSettings, in cgroup: MemoryCgroup? = nil, environment: [String: String] = [:],
        isActivated: Bool = false
    ) throws {
        folder = try TemporaryDirectory("daemon")
        ingestSocket = folder.file("capture.sock")
        controlSocket = folder.file("control.sock")
        let configuration = try folder.write(
            settings.yaml(ingestSocket: ingestSocket, controlSocket: controlSocket), to: "upcastd.yaml")
        let executable = try ProductExecutable.upcastd.path
        let (command, arguments) =
            isActivated
            ? SocketActivation.command(ingestSocket, executable, ["--config", configuration])
            : cgroup?.command(executable, ["--config", configuration]) ?? (executable, ["--config", configuration])
        // A variable with this prefix that no destination names would be an error.
        let hasKey = settings.destinations.contains { $0.fields["key_env"] != nil }
        self.command = (
            command, arguments,
            (hasKey ? [DaemonSettings.keyVariable: DaemonSettings.streamKey] : [:]).merging(environment) { $1 }
        )
        process = try Self.start(self.command, controlSocket)
    }

    private static func start(
        _ command: (executable: String, arguments: [String], environment: [String: String]), _ socket: String?
    ) throws -> ChildProcess {
        let process = try ChildProcess(command.executable, command.arguments, environment: command.environment)
        guard let socket else { return process }
        // The control socket is created after the capture socket. If it answers, both exist.
        try waitFor("upcastd to answer", evidence: { process.errorTail }) {
            guard process.isRunning else { throw TestFailure("upcastd ended at once. \(process.errorTail)") }
            return (try? UnixHTTPClient.get("/status", socket: socket)) != nil
        }
        return process
    }

    deinit { process.signal(SIGKILL) }

    /// Writes a new configuration, for a reload.
    package func rewrite(_ settings: DaemonSettings) throws {
        try folder.write(
            settings.yaml(ingestSocket: ingestSocket, controlSocket: controlSocket), to: "upcastd.yaml")
    }

    /// The status as JSON text.
    package func statusText() throws -> String {
        let response = try UnixHTTPClient.get("/status", socket: controlSocket)
        guard response.status == 200 else { throw TestFailure("GET /status: \(response.status) \(response.body)") }
        return response.body
    }

    /// The status as parsed JSON.
    package func status() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(statusText().utf8))
        guard let object = value as? [String: Any] else { throw TestFailure("the status is no JSON object") }
        return object
    }

    /// What `upcastd --plan` prints for this daemon's configuration.
    package func plan() throws -> String {
        try ChildProcess.run(ProductExecutable.upcastd.path, ["--plan", "--config", folder.file("upcastd.yaml")])
    }

    /// Sends SIGTERM and returns how the daemon ended. Throws if that takes longer than `seconds`.
    @discardableResult
    package func terminate(within seconds: Double = 15) throws -> ChildProcess.Exit {
        try process.stop(SIGTERM, within: seconds)
    }

    /// Everything that the daemon has printed so far.
    package var log: String { process.output + process.errors }

    /// Waits for a text in the log. A line may be later than what it tells: the daemon's threads wait until
    /// it is written, but for at most 100 ms.
    package func waitForLog(_ text: String) throws {
        try waitFor("\"\(text)\" in the log", evidence: { log }) { log.contains(text) }
    }

    package var figures: ProcessFigures? { ProcessFigures(processID: process.processID) }
}
