import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: every capture is told to whoever watches, however short it is, and one who answers before it is shown
/// leaks no picture.
///
/// `scripts/capture-state` runs a thousand of each and prints how long the notice took; here it is a few.
@Suite struct CaptureNoticeTests {
    private static let marker = RawSample(RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1)), format: .i420)
    private static let grey = RawSample(RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420)

    /// As many as the script asks for, with figures that then count; nil in the tests.
    private static var wanted: Int? {
        ProcessInfo.processInfo.environment["UPCAST_CAPTURES"].flatMap { Int($0) }
    }

    private static func settings(_ folder: TemporaryDirectory) -> DaemonSettings {
        var settings = DaemonSettings(width: 320, height: 180)
        settings.destinations = [(name: "file", fields: ["url": "file:" + folder.file("out.flv")])]
        return settings
    }

    private static func ask(_ daemon: Daemon, _ method: String, _ path: String, _ body: String) throws -> Int {
        try UnixHTTPClient.ask(method, path, body: body, socket: daemon.controlSocket).status
    }

    /// Frames with the marker's colour in a folder's recordings, which are removed.
    private static func takeColored(_ folder: TemporaryDirectory) throws -> (frames: Int, colored: Int) {
        var (frames, colored) = (0, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            defer { try? FileManager.default.removeItem(atPath: folder.file(name)) }
            // Where nothing was allowed in half a second, nothing was encoded.
            guard try MediaProbe.packets(folder.file(name)).contains(where: { $0.track == "video" }) else { continue }
            try DecodedVideo.forEachFrame(of: folder.file(name)) { frame in
                frames += 1
                if frame.image.u.contains(where: { $0 > 150 }) { colored += 1 }
            }
        }
        return (frames, colored)
    }

    private static func figures(_ times: [MediaTime]) -> String {
        func text(_ time: MediaTime) -> String { String(format: "%.2f ms", time.secondsAsDouble * 1000) }
        let sorted = times.sorted()
        return "\(text(sorted[sorted.count / 2])) (p50), \(text(p99(times))) (p99),"
            + " \(text(sorted.last ?? .zero)) at most"
    }

    private static func p99(_ times: [MediaTime]) -> MediaTime {
        let sorted = times.sorted()
        return sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }

    /// One picture, and it is over.
    @Test(.timeLimit(.minutes(TimeLimitTrait.turn + (wanted ?? 0) / 30)))
    func everyShortCaptureIsTold() async throws {
        let count = Self.wanted ?? 20
        try await blocking {
            let folder = try TemporaryDirectory("notice")
            let daemon = try Daemon(Self.settings(folder))
            let clock = MonotonicClock()
            let watcher = try StateStream(socket: daemon.controlSocket)
            try watcher.wait(for: 1)
            var (on, off): ([MediaTime], [MediaTime]) = ([], [])
            for number in 0..<count {
                let client = try CaptureClient(socket: daemon.ingestSocket)
                let started = clock.now()
                try client.start()
                try client.send(Self.marker, pts: .zero)
                let finished = clock.now()
                try client.finish()
                // One that is not told by now never is.
                _ = try? watcher.wait(for: 3 + 2 * number, within: 1)
                try FileManager.default.removeItem(atPath: folder.file("out.flv"))
                let events = watcher.events
                guard events.count == 3 + 2 * number else { continue }
                on.append(events[1 + 2 * number].at - started)
                off.append(events[2 + 2 * number].at - finished)
            }
            let told = watcher.events.dropFirst()
            print(
                "\(count) captures of one picture: \(told.count { $0.isCaptured }) told to have begun,"
                    + " \(told.count { !$0.isCaptured }) to have ended;"
                    + (on.isEmpty ? "" : " from started to the notice \(Self.figures(on)),")
                    + (off.isEmpty ? "" : " from finished to the notice \(Self.figures(off))"))
            #expect(told.map(\.isCaptured) == (0..<2 * count).map { $0 % 2 == 0 })
            // A thousand on a machine that has nothing else to do; a busy one says nothing.
            if Self.wanted != nil { #expect(Self.p99(on) < .milliseconds(20) && Self.p99(off) < .milliseconds(20)) }
            try daemon.terminate()
        }
    }

    /// The app raises the curtain as soon as it is told, and the client sends its pictures at once.
    @Test(.timeLimit(.minutes(TimeLimitTrait.turn + (wanted ?? 0) / 30)))
    func whoReactsLeaksNothing() async throws {
        let count = Self.wanted ?? 12
        try await blocking {
            let folder = try TemporaryDirectory("reacts")
            let daemon = try Daemon(Self.settings(folder))
            let raised = Monitor<[Int]>([])
            let app = try StateStream("?app=kiosk&consult=true", socket: daemon.controlSocket) { event in
                guard event.isCaptured else { return }
                let status = (try? Self.ask(daemon, "POST", "/curtain/up", #"{"app": "kiosk"}"#)) ?? 0
                raised.signal { $0.append(status) }
            }
            try app.wait(for: 1)
            /// A short broadcast whose client sends at once.
            func broadcast() throws -> (frames: Int, colored: Int) {
                let client = try CaptureClient(socket: daemon.ingestSocket)
                try client.start()
                for number in 0..<10 {
                    try client.send(Self.marker, pts: .milliseconds(Int64(number) * 10))
                    usleep(10_000)
                }
                try client.finish()
                return try Self.takeColored(folder)
            }
            var colored = 0
            for number in 1...count {
                colored += try broadcast().colored
                let answers = raised.wait(until: Patience.deadline(15)) { $0.count >= number ? $0 : nil }
                #expect(answers?.allSatisfy { $0 == 200 } == true, "\(number): \(raised.withLock { $0 })")
                _ = try Self.ask(daemon, "POST", "/curtain/down", #"{"app": "kiosk"}"#)
            }
            print("\(count) starts with an app that raises the curtain: \(colored) private pictures")
            #expect(colored == 0)
            // Without the app all of it would be seen.
            app.close()
            try waitFor("the app to be gone") { daemon.log.contains("app is no longer consulted") }
            #expect(try broadcast().colored > 0)
            try daemon.terminate()
        }
    }
}
