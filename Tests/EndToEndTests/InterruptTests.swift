import Foundation
import Glibc
import TestSupport
import Testing

/// Promise: Ctrl-C ends scripts/run and scripts/test at any moment, and leaves neither a process nor a folder behind.
///
/// The scripts run as an unprivileged user, on a copy of them and with a temporary folder of their own: whatever they
/// remove, they can remove nothing else.
@Suite struct InterruptTests {
    /// A copy of scripts/ and of what they start, in a folder where nobody but its user may write.
    private final class Copy {
        let folder: TemporaryDirectory
        /// What the scripts are given as TMPDIR.
        let temporary: String
        private static let nobody: UInt32 = 65_534

        /// A Swift that takes its time over whatever it is asked to do.
        private static let swift = """
            #!/bin/sh
            case "$1" in
                --version) echo "Swift version 6.2" ;;
                package) ;;
                *) echo "swift $1 begins" && exec sleep 600 ;;
            esac
            """

        init() throws {
            folder = try TemporaryDirectory("scripts")
            temporary = folder.file("tmp")
            let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            // By a process of its own: other tests may change this one's umask meanwhile, and a program cannot be
            // started while a child that has just begun still has the descriptor by which it was written. A name of its
            // own for a program, where that is possible, is quicker than a copy.
            let programs = try [ProductExecutable.upcastd, .upcastctl, .upcastSend].map { try $0.path }
            _ = try ChildProcess.run(
                "sh",
                [
                    "-c",
                    """
                    set -eu; umask 022; cd "$1"; mkdir tmp bin; cp -r --preserve=mode "$2" scripts
                    printf '%s\\n' "$3" >bin/swift; chmod 755 bin/swift; shift 3
                    for program; do ln "$program" bin/ 2>/dev/null || cp "$program" bin/; done
                    """, "sh", folder.path, checkout.appending(path: "scripts").path, Self.swift,
                ] + programs)
            guard geteuid() == 0 else { return }
            guard chmod(folder.path, 0o755) == 0, chown(temporary, Self.nobody, Self.nobody) == 0 else {
                throw TestFailure("cannot give \(temporary) to nobody")
            }
        }

        /// Starts a script as a terminal does, in a process group of its own; never as root.
        func start(_ script: String, _ arguments: [String]) throws -> ChildProcess {
            let user = ["--reuid", "\(Self.nobody)", "--regid", "\(Self.nobody)", "--clear-groups", "--"]
            let command = ["setsid", folder.file("scripts/" + script)] + arguments
            return try ChildProcess(
                geteuid() == 0 ? "setpriv" : "env", (geteuid() == 0 ? user : []) + command,
                environment: [
                    "TMPDIR": temporary, "HOME": temporary,
                    "PATH": folder.file("bin") + ":/usr/bin:/bin:/usr/sbin:/sbin"
                ])
        }

        /// What is left in the temporary folder.
        var leftovers: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: temporary) }
        }

        /// Processes that were started with the folder, or have a file in the scripts' temporary folder open.
        var processes: [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.filter { Int($0) != nil && $0 != "\(getpid())" }.compactMap { number in
                let start = "/proc/\(number)/"
                let text = ["cmdline", "environ"].map { read(start + $0) }.joined(separator: " ")
                let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: start + "fd")) ?? []
                let open = descriptors.compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: start + "fd/" + $0)
                }
                let belongs = text.contains(folder.path) || open.contains { $0.hasPrefix(temporary + "/") }
                return belongs ? "\(number): \(read(start + "cmdline"))" : nil
            }
        }

        private func read(_ path: String) -> String {
            String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }
    }

    enum Times { case once, twiceAtOnce, againWhileItEnds }

    /// Interrupts a script once `moment` has come, and perhaps a second time.
    private func interrupt(
        _ copy: Copy, _ script: String, _ arguments: [String], _ status: Int, at moment: String, _ times: Times = .once,
        _ hasCome: (ChildProcess) throws -> Bool
    ) throws {
        let child = try copy.start(script, arguments)
        try waitFor("\(script): \(moment)", within: 30, evidence: { child.output + child.errorTail }) {
            guard child.isRunning else { throw TestFailure("\(script) ended. \(child.output) \(child.errorTail)") }
            return try hasCome(child)
        }
        kill(-child.processID, SIGINT)
        if times == .twiceAtOnce, child.isRunning { kill(-child.processID, SIGINT) }
        if times == .againWhileItEnds {
            try? waitFor("the ending to begin") { !child.isRunning || child.output.contains("ending it") }
            if child.isRunning { kill(-child.processID, SIGINT) }
        }
        var exit = child.waitForExit(within: 5)
        // Bash takes an interrupt for dealt with where the command that it waits for ends well at that moment. A person
        // presses the keys again.
        for _ in 0..<4 where exit == nil {
            kill(-child.processID, SIGINT)
            exit = child.waitForExit(within: 8)
        }
        // Bash 5.2.15 cannot read a trap that comes while it reads a command substitution, and ends with 2: the
        // parser's state is shared. Everything is cleaned up then, too, by the trap of the end.
        let isBashs = exit == .code(2) && child.errorTail.contains("trap: line 2: unexpected EOF while looking for")
        #expect(exit == .code(status) || isBashs, "\(script), \(moment): \(child.output) \(child.errorTail)")
        let leftovers = try copy.leftovers
        #expect(leftovers == [], "\(script), \(moment): \(child.output) \(child.errorTail)")
        for name in leftovers { try FileManager.default.removeItem(atPath: "\(copy.temporary)/\(name)") }
        #expect(copy.processes == [], "\(script), \(moment)")
    }

    @Test(.inItsTurn) func runIsInterrupted() async throws {
        try await blocking {
            let copy = try Copy()
            let run = ["--bin-dir", copy.folder.file("bin")]
            /// A file of the script's own folder is there.
            func exists(_ name: String) throws -> Bool {
                guard let folder = try copy.leftovers.first(where: { $0.hasPrefix("upcast-run.") }) else {
                    return false
                }
                return FileManager.default.fileExists(atPath: "\(copy.temporary)/\(folder)/\(name)")
            }
            try interrupt(copy, "run", run, 130, at: "its folder is there") { _ in try exists("logs") }
            try interrupt(copy, "run", run, 130, at: "nginx starts") { _ in try exists("logs/nginx.log") }
            try interrupt(copy, "run", run, 130, at: "upcastd starts") { _ in try exists("logs/upcastd.log") }
            try interrupt(copy, "run", run, 130, at: "upcastd starts, twice", .twiceAtOnce) { _ in
                try exists("logs/upcastd.log")
            }
            try interrupt(copy, "run", run, 130, at: "the client starts") { _ in try exists("logs/upcast-send.log") }
            try interrupt(copy, "run", run, 0, at: "it is on the air") { $0.output.contains("Ctrl-C ends it") }
            try interrupt(copy, "run", run, 0, at: "it is on the air, twice", .againWhileItEnds) {
                $0.output.contains("Ctrl-C ends it")
            }
            try interrupt(copy, "run", run + ["--seconds", "60"], 130, at: "it is on the air for a minute") {
                $0.output.contains("Watch ")
            }
        }
    }

    @Test(.inItsTurn) func testIsInterrupted() async throws {
        try await blocking {
            let copy = try Copy()
            try interrupt(copy, "test", ["--fast", "--filter", "x"], 130, at: "its folder is there") { _ in
                try copy.leftovers.contains { FileManager.default.fileExists(atPath: "\(copy.temporary)/\($0)/logs") }
            }
            try interrupt(copy, "test", ["--fast", "--filter", "x"], 130, at: "the build runs") {
                $0.output.contains("swift build begins")
            }
            try interrupt(copy, "test", ["--list"], 130, at: "tests are listed") {
                $0.output.contains("swift test begins")
            }
        }
    }
}
