import ControlClient
import Glibc
import LinuxSystem

/// Another program, run to its end with this one's input and output.
enum Program {
    /// Beside this executable, else in PATH.
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
        throw .unreachable("there is no \(name) beside this program or in PATH; install it, or put its folder in PATH")
    }

    /// Its exit status; that of a shell where a signal ended it.
    ///
    /// - Parameter output: what standard output and standard error of the program become; nil for this one's.
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
