import ArgumentParser
import Foundation
import Glibc
import LinuxSystem
import TestSupport

/// The fault bench: what the daemon does when networks and servers fail. `scripts/faults` runs it.
@main struct FaultBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault-bench",
        abstract: "Real servers behind a network that fails: recovers, decodes, stays in its memory?",
        discussion: """
            UPCAST_BIN_DIR names the folder of upcastd and upcast-send, this program's own otherwise.
            Exit status: 0 every promise was kept, 1 one was not, 64 wrong option.
            """)

    @Flag(help: "Name the cases and end.") var list = false
    @Flag(help: "Shorter faults and a smaller picture.") var short = false
    @Option(help: "Cases that run at the same time.") var jobs = 1
    @Option(help: "Write the daemon's log of each case into this folder.") var logs: String?
    @Argument(help: "Cases to run; all without.") var cases: [String] = []

    mutating func validate() throws {
        guard (1...16).contains(jobs) else { throw ValidationError("--jobs takes 1 to 16") }
        for name in cases where !FaultCase.all.contains(where: { $0.name == name }) {
            throw ValidationError("there is no case \"\(name)\"; --list names them")
        }
    }

    func run() throws {
        if list {
            for test in FaultCase.all { print(test.name, test.summary, separator: "\t") }
            return
        }
        let wanted = FaultCase.all.filter { cases.isEmpty || cases.contains($0.name) }
        let folder = try TemporaryDirectory("bench")
        let picture = try Self.makePicture(in: folder)
        Self.say(BenchResult.header)
        let queue = Monitor(wanted)
        let broken = Monitor<[String]>([])
        let (isShort, logs) = (short, logs)
        let workers = try (0..<jobs).map { index in
            try WorkerThread(name: "bench-\(index)", stackBytes: 4 << 20) {
                while let test = queue.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                    let failures = Self.run(test, picture: picture, isShort: isShort, logs: logs)
                    broken.withLock { $0 += failures.map { "\(test.name): \($0)" } }
                }
            }
        }
        for worker in workers { worker.join() }
        let all = broken.withLock { $0 }
        for failure in all { Self.say("BROKEN  \(failure)") }
        Self.say(all.isEmpty ? "\(wanted.count) cases, every promise kept" : "\(all.count) promises broken")
        if !all.isEmpty { throw ExitCode.failure }
    }

    /// Prints the case's row; returns the promises that it broke.
    private static func run(_ test: FaultCase, picture: String, isShort: Bool, logs: String?) -> [String] {
        do {
            let stage = try BenchStage(test, picture: picture, isSmall: isShort)
            let pace = FaultCase.Pace(isShort: isShort)
            try test.run(stage, pace)
            let result = try stage.finish(test, after: pace.span(10, 4))
            say(result.row)
            if let logs { try result.log.write(toFile: "\(logs)/\(test.name).log", atomically: true, encoding: .utf8) }
            return result.broken
        } catch {
            say("\(test.name): \(error)")
            return ["it could not be run to its end: \(error)"]
        }
    }

    /// A whole line at once, and at once: whoever watches sees the cases come in.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    /// Two seconds that an encoder has its work with: a still picture would take no bitrate to speak of.
    private static func makePicture(in folder: TemporaryDirectory) throws -> String {
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30,noise=alls=20:allf=t",
                "-t", "2", "-pix_fmt", "yuv420p", folder.file("picture.y4m"),
            ])
        return folder.file("picture.y4m")
    }
}
