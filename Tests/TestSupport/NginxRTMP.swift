import Foundation
import Glibc
import LinuxSystem

/// A real RTMP server: nginx with its rtmp module, with its own folder and loopback port. It records every stream.
package final class NginxRTMP: Sendable {
    private let folder: TemporaryDirectory
    private let shelf: RecordingShelf
    private let configuration: String
    /// Replaced by `restart`.
    private let process: Monitor<ChildProcess>
    private var server: ChildProcess { process.withLock { $0 } }
    package let port: UInt16
    private let host: String
    /// The URL for publishers; the name of the stream is the key.
    package var url: String { "rtmp://\(host):\(port)/live" }

    private static let module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
    package static let isInstalled = ["/usr/sbin/nginx", module].allSatisfy(FileManager.default.fileExists(atPath:))

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Parameter host: the host for publishers; an IPv6 address is in brackets. The server also listens at 127.0.0.1.
    package init(host: String = "127.0.0.1") throws {
        guard Self.isInstalled else {
            throw TestFailure("nginx with its RTMP module is missing: apt-get install nginx libnginx-mod-rtmp")
        }
        folder = try TemporaryDirectory("nginx")
        let port = try Loopback.freePort()
        self.port = port
        self.host = host
        let more = host == "127.0.0.1" ? "" : "listen \(host):\(port);"
        shelf = try RecordingShelf(in: folder)
        configuration = try folder.write(
            """
            load_module \(Self.module);
            daemon off; master_process off; user root;
            pid \(folder.file("nginx.pid")); error_log \(folder.file("error.log")) info;
            events { worker_connections 64; }
            rtmp {
                server {
                    listen 127.0.0.1:\(port); \(more)
                    chunk_size 4096;
                    application live {
                        live on;
                        record all;
                        record_unique on;
                        record_path \(shelf.incoming);
                    }
                    application closed { live on; deny publish all; }
                }
            }
            """, to: "nginx.conf")
        process = Monitor(try Self.start(folder, configuration, port))
        // nginx opens its listeners one after the other.
        if host == "[::1]" { try Loopback.waitForUntriedListener(at: port, isIPv6: true) }
    }

    private static func start(
        _ folder: TemporaryDirectory, _ configuration: String, _ port: UInt16
    ) throws -> ChildProcess {
        // Without -e, nginx first tries the system's error log.
        let server = try ChildProcess(
            "/usr/sbin/nginx", ["-p", folder.path, "-e", folder.file("error.log"), "-c", configuration])
        try waitFor("nginx at port \(port)", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("nginx ended at once. \(server.errorTail)") }
            return Loopback.isListening(port)
        }
        return server
    }

    deinit { server.signal(SIGKILL) }

    /// The server's own log.
    package var log: String {
        String(decoding: FileManager.default.contents(atPath: folder.file("error.log")) ?? Data(), as: UTF8.self)
    }

    /// The recordings so far, oldest first. A publisher that reconnects gets a new one. The name that the server gave
    /// is at the end of its name.
    package var recordings: [String] { shelf.recordings }

    /// Waits until the server has closed the recording at `index`.
    package func finishedRecording(_ index: Int = 0, within seconds: Double = 15) throws -> String {
        try waitFor(
            "recording \(index) to be closed", within: seconds, evidence: { String(self.log.suffix(600)) }
        ) { () -> String? in
            let all = recordings
            guard all.count > index, !openFiles.contains(all[index]) else { return nil }
            return all[index]
        }
    }

    /// The content of the first recording so far; nil before it begins.
    package func bytesOfFirstRecording() throws -> [UInt8]? {
        try recordings.first.map { try folder.bytes(of: String($0.dropFirst(folder.path.count + 1))) }
    }

    /// Waits until the server has closed these recordings.
    package func waitForClosed(_ paths: [String], within seconds: Double = 15) throws {
        try waitFor("recordings to be closed", within: seconds, evidence: { String(self.log.suffix(600)) }) {
            openFiles.isDisjoint(with: paths)
        }
    }

    /// The bytes recorded so far in all files.
    package var recordedBytes: Int { recordings.reduce(0) { $0 + Self.size($1) } }

    /// Ends the server gracefully: it closes its recordings.
    package func stop() throws { try server.stop(SIGQUIT) }
    /// Ends the server as a crash would.
    package func kill() throws { try server.stop(SIGKILL) }
    /// Starts the server again, at the same port and with the same recordings.
    package func restart() throws {
        let new = try Self.start(folder, configuration, port)
        process.withLock { $0 = new }
    }
    /// Simulates a machine that hangs: the kernel keeps the connections, but no process reads.
    package func freeze() { server.signal(SIGSTOP) }
    package func thaw() { server.signal(SIGCONT) }

    /// Whether no recording is being written.
    package var hasClosedAll: Bool { shelf.isSettled && openFiles.isDisjoint(with: recordings) }

    private var openFiles: Set<String> {
        let descriptors = "/proc/\(server.processID)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
        return Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + $0) })
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
