import Glibc
import LinuxSystem
import TestSupport

/// A real RTMP server that records, and that can be hurt.
protocol BenchServer: Sendable {
    var port: UInt16 { get }
    /// FLV files, one a connection.
    var recordings: [String] { get }
    /// As a crash would.
    func kill() throws
    func restart() throws
    func freeze()
    func thaw()
    /// In order.
    func stop() throws
}

extension NginxRTMP: BenchServer {}

/// ffmpeg as a server: it takes one connection and ends with it, and another one is started in its place.
final class FFmpegServer: BenchServer {
    private struct State {
        var process: ChildProcess?
        var started = 0
        var isWanted = true
        var isEnding = false
    }

    let port: UInt16
    private let folder: TemporaryDirectory
    private let state = Monitor(State())
    private let keeper: WorkerThread

    init(streamKey: String) throws {
        let (folder, port, state) = (try TemporaryDirectory("ffmpeg"), try Loopback.freePort(), state)
        self.folder = folder
        self.port = port
        keeper = try WorkerThread(name: "ffmpeg-server", stackBytes: 1 << 20) {
            while true {
                let isEnding = state.withLock { state in
                    if state.isWanted, !state.isEnding, state.process?.isRunning != true {
                        state.process = try? ChildProcess(
                            "ffmpeg",
                            [
                                "-nostdin", "-v", "error", "-listen", "1",
                                "-i", "rtmp://127.0.0.1:\(port)/live/\(streamKey)", "-c", "copy",
                                "-flush_packets", "1", folder.file("\(100 + state.started).flv"),
                            ])
                        state.started += 1
                    }
                    return state.isEnding
                }
                if isEnding { return }
                usleep(20_000)
            }
        }
    }

    deinit {
        state.withLock { $0.isEnding = true }
        keeper.join()
        state.withLock { $0.process }?.signal(SIGKILL)
    }

    var recordings: [String] {
        (0..<state.withLock { $0.started }).map { folder.file("\(100 + $0).flv") }
    }

    private var process: ChildProcess? { state.withLock { $0.process } }

    func kill() throws {
        state.withLock { $0.isWanted = false }
        try process?.stop(SIGKILL)
    }
    func restart() { state.withLock { $0.isWanted = true } }
    func freeze() { process?.signal(SIGSTOP) }
    func thaw() { process?.signal(SIGCONT) }

    func stop() throws {
        state.withLock { $0.isWanted = false }
        // It ends with its connection, when the file is whole; one that waits for a connection is told to.
        if process?.waitForExit(within: 3) == nil { try process?.stop(SIGTERM) }
    }
}
