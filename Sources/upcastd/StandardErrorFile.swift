internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Writes log lines to a file or terminal on a separate thread, because both can block. Any thread.
///
/// The caller waits until its line is written, so that the file usually has the line before anything else happens. It
/// waits for at most 100 ms, and not at all while the file is blocked. The queue holds 256 lines. Further lines are
/// lost, and the next line reports their number.
final class StandardErrorFile: Sendable {
    private struct State {
        var lines: [String] = []
        var lost = 0
        /// The number of added lines, and of written lines.
        var added: UInt64 = 0
        var written: UInt64 = 0
        /// Whether the file is blocked: a caller waited for the current line until its timeout.
        var isLate = false
        var isEnding = false
        var hasEnded = false
    }

    static let capacity = 256
    private let lines: LogLines
    private let patience: MediaTime
    private let state = Monitor(State())
    private let thread: WorkerThread

    /// Whether `write` can block although `poll` reports ready: always, except for pipes and sockets.
    static func isNeeded(for descriptor: CInt) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return ![S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// - Parameters:
    ///   - lines: says how many lines were lost.
    ///   - patience: the maximum time that a caller waits.
    ///   - write: writes a line; may block.
    init(
        _ lines: LogLines, patience: MediaTime = .milliseconds(100), write: @escaping @Sendable (String) -> Void
    ) throws(Errno) {
        self.lines = lines
        self.patience = patience
        let state = state
        thread = try WorkerThread(name: "up-log", stackBytes: 64 * 1024) { Self.run(state, write) }
    }

    deinit { end(within: .zero) }

    func put(_ line: String) {
        let number = state.signal { state -> UInt64? in
            guard state.lines.count < Self.capacity, !state.isEnding else {
                state.lost += 1
                return nil
            }
            state.lines.append(state.lost == 0 ? line : lines.lost(state.lost) + line)
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

    /// Writes the queued lines for at most `patience`, and ends the thread.
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

    /// Waits for the next line. Returns nil at the end.
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
