import Glibc
import LinuxSystem

/// Takes over a terminal: alternate screen, no echo, no cursor. `restore` gives it back.
///
/// One thread. The caller must handle signals, so that `restore` always runs.
final class Terminal {
    private var saved: termios?
    private var isTaken = false
    private let readsKeys: Bool

    init() { readsKeys = isatty(STDIN_FILENO) == 1 }

    /// The descriptor for keys; -1 without a keyboard.
    var keys: CInt { readsKeys ? STDIN_FILENO : -1 }

    /// Columns and rows; 80x24 if the terminal does not report them.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func take() throws(Errno) {
        if readsKeys {
            var settings = termios()
            guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { throw Errno.current }
            if saved == nil { saved = settings }
            // Ctrl-C and Ctrl-Z still send signals.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-S would block a write, during which signals are not handled.
            settings.c_iflag &= ~tcflag_t(IXON)
            guard unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { throw Errno.current }
        }
        isTaken = true
        // Alternate screen, no cursor, no line wrap.
        try write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    /// Restores the terminal. A second call does nothing. Ignores errors, because the terminal may be gone.
    func restore() {
        guard isTaken else { return }
        isTaken = false
        try? write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        if var settings = saved { unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
    }

    /// Replaces the contents line by line in a single write, so that nothing flickers.
    ///
    /// Erases each line before it is written: after a line that fills its row, the cursor is still on the last cell.
    func draw(_ lines: [String]) throws(Errno) {
        try write("\u{1B}[H" + lines.map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n"))
    }

    /// Returns pressed keys; nil at the end of the input.
    func pressed() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, Errno.current.code == EINTR { return [] }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func write(_ text: String) throws(Errno) { try OutputBytes.write(Array(text.utf8), to: STDOUT_FILENO) }
}
