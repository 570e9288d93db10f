import Foundation
package import Glibc
package import LinuxSystem
import MediaCore

/// A process that a test has started. It never outlives its owner or the test process.
///
/// Its output goes to its own files, so that it never blocks on a full pipe. Children are started through `setpriv
/// --pdeathsig KILL`, so that not even a crash of the tests leaves any behind.
package final class ChildProcess: @unchecked Sendable /* mutable state is behind `state` */ {
    package enum Exit: Equatable, Sendable {
        case code(Int)
        case signal(Int)
    }
    package enum Input {
        case null
        /// A descriptor that the caller keeps.
        case descriptor(CInt)
    }
    package enum Output {
        /// A file, which `ChildProcess.output` reads.
        case file
        /// A descriptor that the caller keeps.
        case descriptor(CInt)
    }

    package let processID: pid_t
    package let name: String
    private let folder: TemporaryDirectory
    private let state = Monitor<Exit?>(nil)

    /// Starts `executable` (a name on PATH or a path).
    package init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:],
        input: Input = .null, output: Output = .file
    ) throws {
        name = (executable as NSString).lastPathComponent
        folder = try TemporaryDirectory("child")
        // The daemon reads its configuration from such variables. A developer's own must not affect tests.
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("UPCAST_") }
        let request = SpawnRequest(
            arguments: ["setpriv", "--pdeathsig", "KILL", "--", executable] + arguments,
            environment: inherited.merging(environment) { $1 }.map { "\($0)=\($1)" },
            input: input, output: output, outputPath: folder.file("out"), errorPath: folder.file("err"))
        processID = try Spawner.shared.spawn(request)
        let (pid, state) = (processID, state)
        let reaper = Thread {
            var info = siginfo_t()
            // The process ID can only be reused after the process was reaped, which happens under the lock that
            // `signal` takes. So a signal can never hit another process.
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            state.signal { exit in
                var status: CInt = 0
                waitpid(pid, &status, 0)
                exit = status & 0x7f == 0 ? .code(Int(status >> 8 & 0xff)) : .signal(Int(status & 0x7f))
            }
        }
        reaper.stackSize = 256 * 1024
        reaper.start()
    }

    deinit { signal(SIGKILL) }

    /// Everything on standard output so far.
    package var output: String { Self.text(folder.file("out")) }
    /// Everything on standard error so far.
    package var errors: String { Self.text(folder.file("err")) }
    package var isRunning: Bool { state.withLock { $0 == nil } }

    /// Sends a signal, unless the process has ended.
    package func signal(_ number: CInt) {
        state.withLock { if $0 == nil { _ = Glibc.kill(processID, number) } }
    }

    /// Sends a signal to all processes of the group that this process leads, as a terminal does.
    package func signalGroup(_ number: CInt) {
        state.withLock { if $0 == nil { _ = Glibc.kill(-processID, number) } }
    }

    /// How the process ended; nil if it has not ended within `seconds`.
    package func waitForExit(within seconds: Double) -> Exit? {
        state.wait(until: Patience.deadline(seconds)) { $0 }
    }

    /// Signals the process and waits. Kills it if it does not end, and then throws.
    @discardableResult
    package func stop(_ number: CInt = SIGTERM, within seconds: Double = 10) throws -> Exit {
        signal(number)
        if let exit = waitForExit(within: seconds) { return exit }
        signal(SIGKILL)
        _ = waitForExit(within: 5)
        throw TestFailure("\(name) did not end within \(Patience.scaled(seconds)) s of signal \(number). \(errorTail)")
    }

    /// Waits for success; throws with the end of standard error otherwise.
    package func waitForSuccess(within seconds: Double) throws {
        guard let exit = waitForExit(within: seconds) else {
            signal(SIGKILL)
            throw TestFailure("\(name) had not ended after \(Patience.scaled(seconds)) s. \(errorTail)")
        }
        guard exit == .code(0) else { throw TestFailure("\(name) ended with \(exit). \(errorTail)") }
    }

    /// The last lines of standard error, for messages.
    package var errorTail: String {
        "\(name) said: " + errors.split(separator: "\n").suffix(12).joined(separator: " | ")
    }

    /// Kills the process and waits until it is gone.
    package func kill() {
        signal(SIGKILL)
        _ = waitForExit(within: 10)
    }

    /// Runs a program to its end and returns its standard output. Throws if it fails or takes too long.
    @discardableResult
    package static func run(_ executable: String, _ arguments: [String], within seconds: Double = 60) throws -> String {
        let child = try ChildProcess(executable, arguments)
        try child.waitForSuccess(within: seconds)
        return child.output
    }

    /// Starts `producer | consumer`. Only these two have the pipe open, so that each notices the other's end.
    package static func pipeline(
        _ producer: (executable: String, arguments: [String]), _ consumer: (executable: String, arguments: [String])
    ) throws -> (producer: ChildProcess, consumer: ChildProcess) {
        let pipe = try Pipe()
        let first = try ChildProcess(producer.executable, producer.arguments, output: .descriptor(pipe.writing.raw))
        let reading = pipe.reader()
        let second = try ChildProcess(consumer.executable, consumer.arguments, input: .descriptor(reading.raw))
        return (first, second)
    }

    private static func text(_ path: String) -> String {
        // Foundation leaks its buffer if a file is empty.
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return "" }
        return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

/// A pipe between two children, or a child and the test; both ends are close-on-exec.
package struct Pipe: ~Copyable {
    package let reading: OwnedDescriptor
    package let writing: OwnedDescriptor

    package init() throws {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw Errno.current }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = OwnedDescriptor(ends[0])
        writing = OwnedDescriptor(ends[1])
    }

    /// Closes the writing end and returns the reading end.
    package consuming func reader() -> OwnedDescriptor { reading }
}
