import Foundation
import TestSupport
import Testing

/// A real nginx with its RTMP module on a free port. It records published streams into its own folder.
final class NginxServer {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
        && FileManager.default.fileExists(atPath: "/usr/lib/nginx/modules/ngx_rtmp_module.so")

    let folder: TemporaryDirectory
    let port: UInt16
    private let process: ChildProcess

    /// - Parameter isIPv6: whether it listens at ::1, too.
    init(isIPv6: Bool = false) throws {
        folder = try TemporaryDirectory("publishing")
        let port = try Loopback.freePort()
        self.port = port
        let path = folder.path
        try folder.write(
            """
            load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
            daemon off; master_process off; pid \(path)/nginx.pid; error_log \(path)/error.log info;
            events { worker_connections 64; }
            rtmp { server {
              listen 127.0.0.1:\(port); \(isIPv6 ? "listen [::1]:\(port);" : "")
              application live { live on; record all; record_path \(path); }
              application closed { live on; deny publish all; }
            } }
            """, to: "nginx.conf")
        process = try ChildProcess(
            "/usr/sbin/nginx", ["-p", path, "-c", folder.file("nginx.conf"), "-e", folder.file("error.log")])
        try Loopback.waitForListener(at: port)
        // nginx listens at one address after the other.
        if isIPv6 { try Loopback.waitForUntriedListener(at: port, isIPv6: true) }
    }

    func kill() { process.kill() }
    func freeze() { process.signal(SIGSTOP) }
    func thaw() { process.signal(SIGCONT) }

    /// The recording of a stream, once it has this many video packets.
    func recording(of key: String, videoPackets: Int) throws -> FLVRecording {
        var result: FLVRecording?
        try waitFor("\(videoPackets) recorded frames of \(key)", within: 30) {
            result = try? FLVRecording(folder.bytes(of: key + ".flv"))
            return result?.video.count == videoPackets
        }
        return try #require(result)
    }
}
