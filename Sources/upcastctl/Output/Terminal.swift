import Glibc
import LinuxSystem

/// A terminal that a program draws on: its other screen, without echo and cursor, until it is given back.
///
/// One thread. Whoever takes it has signals under control, so that `restore` comes to pass.
final class Terminal {
    private var saved: termios?
    private var isTaken = false
    private let readsKeys: Bool

    init() { readsKeys = isatty(STDIN_FILENO) == 1 }

    /// Where keys come from; -1 where there are none.
    var keys: CInt { readsKeys ? STDIN_FILENO : -1 }

    /// Columns and rows; what every terminal has where it does not say.
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
            // Ctrl-C and Ctrl-Z stay signals.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-S would leave this waiting to write, where no signal is seen.
            settings.c_iflag &= ~tcflag_t(IXON)
            guard unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { throw Errno.current }
        }
        isTaken = true
        // The other screen, no cursor, no line wrap.
        try write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    /// As it was; a second call does nothing. A terminal that is gone is none that needs it.
    func restore() {
        guard isTaken else { return }
        isTaken = false
        try? write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        if var settings = saved { unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
    }

    /// Replaces what is shown, line by line and in one piece, so that nothing flickers.
    ///
    /// A line is erased before it is written: after one that fills its row, the cursor still stands on the last cell.
    func draw(_ lines: [String]) throws(Errno) {
        try write("\u{1B}[H" + lines.map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n"))
    }

    /// Keys that were pressed; nil when nobody will press any more.
    func pressed() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, Errno.current.code == EINTR { return [] }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func write(_ text: String) throws(Errno) { try Output.write(Array(text.utf8), to: STDOUT_FILENO) }
}
