import FaultProxy
import Foundation
import Glibc
import LinuxSystem
import MediaCore
import TestSupport

/// A server, the proxy in front of it, the daemon and a client: everything that one case needs, and nothing shared.
final class BenchStage {
    let server: any BenchServer
    let arrivals: ArrivalLog
    private let proxy: FaultProxy
    private let daemon: Daemon
    private let sender: ChildProcess
    private let clock = MonotonicClock()
    private var broken: [String] = []
    private var neededBytes = 0
    /// When the fault was over.
    private(set) var linkBackAt: MediaTime?

    /// - Parameter picture: a Y4M file that the client sends again and again.
    init(_ test: FaultCase, picture: String, isSmall: Bool) throws {
        let server: any BenchServer =
            switch test.server {
            case .nginx: try NginxRTMP()
            case .ffmpeg: try FFmpegServer(streamKey: DaemonSettings.streamKey)
            }
        self.server = server
        arrivals = try ArrivalLog { server.recordings }
        proxy = try FaultProxy(to: UInt16(server.port))
        if let command = test.before { try proxy.apply(command) }
        // As shipped; or a canvas of a quarter, at the same bitrate.
        var settings = isSmall ? DaemonSettings(width: 640, height: 360, bitrateKilobits: 2_500) : DaemonSettings()
        if !isSmall { settings.video = [:] }
        // A client that the machine, and not the network, holds up would make the mixer wait longer from then on, and
        // the pictures with it: that is not what is measured here.
        settings.audio["max_latency_ms"] = "150"
        settings.publish(to: "rtmp://127.0.0.1:\(proxy.port)/live")
        settings.destinations[0].fields.merge(test.destinationFields) { $1 }
        for other in test.otherDestinations { settings.publish(to: other.url, name: other.name) }
        // Each destination has a send buffer that must find its place under the cap.
        if !test.otherDestinations.isEmpty { settings.buffer["max_bytes"] = "1MiB" }
        daemon = try Daemon(settings)
        sender = try ChildProcess(
            ProductExecutable.upcastSend.path,
            [
                "--socket", daemon.ingestSocket, "--video", picture, "--loop", "--app-audio", "tone:440",
                "--mic", "none", "--quiet",
            ])
        guard test.before == nil else { return }
        let start = clock.now()
        guard let first = arrivals.firstFrame(since: start, within: 20) else {
            throw TestFailure("nothing reached the server. \(sender.errorTail) \(daemon.process.errorTail)")
        }
        // The encoder's rate control and the kernel's windows settle.
        pause(until: first + .seconds(3))
    }

    // MARK: What a case does

    func link(_ command: LinkCommand) throws { try proxy.apply(command) }
    func schedule(_ text: String) throws { try proxy.run(LinkSchedule(text)) }
    func wait(_ seconds: Double) throws {
        pause(until: clock.now() + .milliseconds(Int64(seconds * 1000)))
        guard daemon.process.isRunning else { throw TestFailure("the daemon has ended. \(daemon.process.errorTail)") }
    }
    /// From now on the link carries again.
    func linkIsBack() { linkBackAt = clock.now() }

    /// Failed attempts of a destination so far.
    func failures(_ cause: String, of name: String = "main") -> Int {
        ((destination(name)?["failures"] as? [String: Any])?[cause] as? Int) ?? 0
    }
    /// A promise that this case alone makes.
    func promise(_ isKept: Bool, _ otherwise: String) { if !isKept { broken.append(otherwise) } }
    /// Of the bitrate that is configured, how much the encoder is asked for now.
    var bitrateShare: Double {
        let video = (try? status())?["video"] as? [String: Any]
        return Double(video?["target_bits_per_second"] as? Int ?? 0) / 2_500_000
            / Double(video?["frame_rate_divisor"] as? Int ?? 1)
    }
    var statusText: String { (try? daemon.statusText()) ?? "no status" }

    /// Notes what is needed of memory: pages of unused code count as resident, but the kernel can reclaim them.
    private func status() throws -> [String: Any] {
        let status = try daemon.status()
        let memory = status["memory"] as? [String: Any]
        neededBytes = max(neededBytes, memory?["needed_bytes"] as? Int ?? 0)
        return status
    }

    private func destination(_ name: String) -> [String: Any]? {
        (try? status()["destinations"] as? [[String: Any]])?.first { $0["name"] as? String == name }
    }

    // MARK: What came of it

    /// Looks on for as long, ends everything in order, and takes it all together.
    func finish(_ test: FaultCase, after seconds: Double) throws -> BenchResult {
        let back = linkBackAt ?? clock.now()
        // A daemon that waits between attempts gets its time.
        _ = arrivals.firstFrame(since: back, within: 60)
        let fullBitrate = try bitrateIsBack(within: 60)
        pause(until: back + .milliseconds(Int64(seconds * 1000)))

        var result = BenchResult(test: test)
        result.broken = broken
        result.fullBitrate = fullBitrate.map { $0 - back }
        let status = try status()
        func counters(_ object: Any?) -> [String: Int] {
            ((object as? [String: Any]) ?? [:]).compactMapValues { $0 as? Int }.filter { $0.value > 0 }
        }
        let main = destination("main")
        result.drops = counters(main?["drops"])
        result.failures = counters(main?["failures"])
        result.connects = main?["connects"] as? Int ?? 0
        let memory = status["memory"] as? [String: Any]
        result.planBytes = memory?["plan_bytes"] as? Int ?? 0
        result.capBytes = memory?["cap_bytes"] as? Int ?? 0
        result.neededBytes = neededBytes

        let ended = clock.now()
        let goodbye = try sender.stop(SIGTERM, within: 20)
        // Where another destination was never reached, the client is told so at the end (3).
        let expected = test.otherDestinations.isEmpty ? 0 : 3
        if goodbye != .code(0), goodbye != .code(expected) {
            result.broken.append("the client ended with \(goodbye): \(sender.errorTail)")
        }
        let exit = try daemon.terminate()
        if exit != .code(0) { result.broken.append("the daemon ended with \(exit)") }
        try server.stop()
        usleep(50_000)

        result.note(arrivals.all, linkBack: back, ended: ended)
        for segment in arrivals.all {
            let errors = try Self.decodingErrors(segment)
            if !errors.isEmpty { result.decodingErrors.append(errors) }
        }
        result.log = daemon.log
        result.judge()
        return result
    }

    /// When the encoder is asked for nearly all of the bitrate again; nil where it never is.
    private func bitrateIsBack(within seconds: Int64) throws -> MediaTime? {
        let deadline = clock.now() + .seconds(seconds)
        while clock.now() < deadline {
            if bitrateShare > 0.8 { return clock.now() }
            try wait(0.1)
        }
        return nil
    }

    /// Of what the server had written up to the last whole packet: one that is killed may leave half of one.
    private static func decodingErrors(_ segment: ArrivalLog.Segment) throws -> String {
        guard truncate(segment.path, segment.wholeBytes) == 0 else { throw Errno.current }
        return try MediaProbe.decodingErrors(segment.path, within: 120)
    }
}
