import Foundation
import Glibc
import LinuxSystem

/// The arguments of a `posix_spawnp` call.
struct SpawnRequest: @unchecked Sendable /* plain values, handed from one thread to another once */ {
    var arguments: [String]
    var environment: [String]
    var input: ChildProcess.Input
    var output: ChildProcess.Output
    var outputPath: String
    var errorPath: String

    func spawn() throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        switch input {
        case .null: posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        case .descriptor(let number): posix_spawn_file_actions_adddup2(&actions, number, 0)
        }
        let create = O_WRONLY | O_CREAT | O_APPEND
        switch output {
        case .file: posix_spawn_file_actions_addopen(&actions, 1, outputPath, create, 0o600)
        case .descriptor(let number): posix_spawn_file_actions_adddup2(&actions, number, 1)
        }
        posix_spawn_file_actions_addopen(&actions, 2, errorPath, create, 0o600)

        // Other tests in this process may have blocked or ignored signals. A child must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer {
            argv.forEach { free($0) }
            envp.forEach { free($0) }
        }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp)
        guard result == 0 else { throw TestFailure("cannot start \(arguments): \(Errno(result))") }
        return pid
    }
}

/// The one thread that starts children. It lives as long as the process, because the kernel sends the parent-death
/// signal when the *thread* that started a child ends.
final class Spawner: Sendable {
    static let shared = Spawner()
    private let jobs = Monitor<[@Sendable () -> Void]>([])

    private init() {
        let jobs = jobs
        Thread.detachNewThread {
            while let job = jobs.wait({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
        }
    }

    func spawn(_ request: SpawnRequest) throws -> pid_t {
        let done = Monitor<Result<pid_t, any Error>?>(nil)
        jobs.signal { $0.append { done.signal { $0 = Result { try request.spawn() } } } }
        return try done.wait { $0 }!.get()
    }
}
