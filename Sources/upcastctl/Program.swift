import ControlClient
import Glibc
import LinuxSystem

/// Runs another program and waits for it.
enum Program {
    /// Finds a program in the folder of this executable or in PATH.
    static func beside(_ name: String) throws(ControlClientError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe readlink("/proc/self/exe", bytes.baseAddress!, bytes.count)
        }
        var folders: [Substring] = []
        if count > 0 {
            let own = String(decoding: buffer[..<count], as: UTF8.self)
            folders.append(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
        }
        if let list = unsafe getenv("PATH") {
            let path = unsafe String(cString: list)
            folders += path.split(separator: ":")
        }
        for folder in folders where unsafe access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        throw .unreachable(
            "\(name) is not in the folder of upcastctl or in PATH; install it, or add its folder to PATH")
    }

    /// Returns the exit status of the program; after a signal, 128 plus its number.
    ///
    /// - Parameter output: replaces standard output and standard error of the program; nil for those of this process.
    static func run(
        _ path: String, _ arguments: [String], output: CInt? = nil
    ) throws(ControlClientError) -> CInt {
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for unsafe word in unsafe words { unsafe free(word) } }
        var child: pid_t = 0
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let output {
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_adddup2(&actions, output, stream)
            }
        }
        let failure = unsafe posix_spawn(&child, path, &actions, nil, &words, environ)
        guard failure == 0 else { throw .unusable("cannot run \(TerminalText.printable(path)): \(Errno(failure))") }
        var status: CInt = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            let error = Errno.current
            guard error.code == EINTR else { throw .unusable("cannot wait for \(path): \(error)") }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
