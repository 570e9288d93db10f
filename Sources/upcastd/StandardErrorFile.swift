internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Standard error where it is a file, whose disk may hang, or a terminal, which nobody may read: a thread of its own
/// writes the lines. Any thread.
///
/// Whoever logs waits until its line is written, so that as a rule the file has it before anything else happens. That
/// takes 100 ms at most, and while the file hangs nobody waits any more. 256 lines wait for it; further ones are lost,
/// and counted in front of the next one.
final class StandardErrorFile: Sendable {
    private struct State {
        var lines: [String] = []
        var lost = 0
        /// Lines that were added, and those of them that have been written.
        var added: UInt64 = 0
        var written: UInt64 = 0
        /// The disk hangs: somebody has waited in vain for the line that is being written.
        var isLate = false
        var isEnding = false
        var hasEnded = false
    }

    static let capacity = 256
    private let patience: MediaTime
    private let state = Monitor(State())
    private let thread: WorkerThread

    /// Whether a line may wait in `write` although `poll` says that there is room: everywhere but in a pipe or a
    /// socket. A terminal says so for a single byte.
    static func isNeeded(for descriptor: CInt) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return ![S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// - Parameters:
    ///   - patience: what a line waits for the disk at most.
    ///   - write: writes a line, for as long as that takes.
    init(patience: MediaTime = .milliseconds(100), write: @escaping @Sendable (String) -> Void) throws(Errno) {
        self.patience = patience
        let state = state
        thread = try WorkerThread(name: "up-log", stackBytes: 64 * 1024) { Self.run(state, write) }
    }

    deinit { end(within: .zero) }

    /// A line more.
    func put(_ line: String) {
        let number = state.signal { state -> UInt64? in
            guard state.lines.count < Self.capacity, !state.isEnding else {
                state.lost += 1
                return nil
            }
            state.lines.append(state.lost == 0 ? line : "(\(state.lost) lines lost, nobody took them)\n" + line)
            state.lost = 0
            state.added += 1
            return state.added
        }
        guard let number else { return }
        let isWritten = state.wait(until: MonotonicClock().now() + patience) { state -> Bool? in
            state.written >= number || state.isLate ? true : nil
        }
        if isWritten == nil { state.signal { $0.isLate = true } }
    }

    /// Writes what waits, for as long as `patience`, and ends the thread.
    func end(within patience: MediaTime) {
        state.signal { $0.isEnding = true }
        let hasEnded = state.wait(until: MonotonicClock().now() + patience) { $0.hasEnded ? true : nil }
        if hasEnded == nil { thread.abandon() } else { thread.join() }
    }

    private static func run(_ state: Monitor<State>, _ write: (String) -> Void) {
        while let text = next(state) {
            write(text)
            state.signal { state in
                state.written += 1
                state.isLate = false
            }
        }
    }

    /// Waits for the next line; nil at the end.
    private static func next(_ state: Monitor<State>) -> String? {
        let text = state.wait { state -> String?? in
            guard !state.lines.isEmpty else {
                guard state.isEnding else { return nil }
                state.hasEnded = true
                return .some(nil)
            }
            return state.lines.removeFirst()
        }
        guard let text, let text else {
            state.signal { _ in }
            return nil
        }
        return text
    }
}
