internal import CLibAV
internal import LinuxSystem
internal import MediaCore

/// Redirects what libavcodec, libavutil and x264 print.
///
/// They print to standard error by default, and an encoder in trouble prints for every frame.
package enum LibAVLog {
    package enum Level: Int, CaseIterable, Sendable {
        case error, warning, information
    }

    /// Messages of one level a second at most; the rest are counted, and the count is told before the next message.
    package static let messagesPerSecond = 10
    /// Bytes of a message at most; longer ones are cut.
    static let maximumMessageBytes = 512

    private struct State {
        var handler: (@Sendable (Level, String) -> Void)?
        var gates = Level.allCases.map { _ in MessageGate(messagesPerSecond: LibAVLog.messagesPerSecond) }
    }

    private static let state = Monitor(State())

    /// Sends messages to `handler` from now on, for the whole process; the last call wins.
    ///
    /// The handler is called on any thread that uses libavcodec, never twice at once, with one line without its line
    /// end. It must not call libavcodec. Debug and verbose messages are dropped before they are formatted.
    package static func install(_ handler: @escaping @Sendable (_ level: Level, _ message: String) -> Void) {
        state.withLock { $0.handler = handler }
        unsafe av_log_set_callback { object, level, format, arguments in
            guard level <= AV_LOG_INFO, let format = unsafe format, let arguments = unsafe arguments else { return }
            unsafe LibAVLog.write(object, level, format, arguments)
        }
    }

    private static func write(
        _ object: UnsafeMutableRawPointer?, _ level: Int32, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer
    ) {
        let now = MonotonicClock().now()
        let grade: Level = level <= AV_LOG_ERROR ? .error : level <= AV_LOG_WARNING ? .warning : .information
        state.withLock { state in
            guard let handler = state.handler, let suppressed = state.gates[grade.rawValue].admit(at: now) else {
                return
            }
            if suppressed > 0 { handler(grade, "\(suppressed) messages of libavcodec were left out") }
            let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumMessageBytes) { line in
                var printPrefix: Int32 = 1
                unsafe av_log_format_line2(
                    object, level, format, arguments, line.baseAddress, Int32(line.count), &printPrefix)
                return unsafe line.baseAddress.map { unsafe String(cString: $0) } ?? ""
            }
            let text = message.prefix { $0 != "\n" }
            guard !text.isEmpty else { return }
            handler(grade, String(text))
        }
    }
}

/// Lets a number of messages through in every second and counts the others.
struct MessageGate {
    let messagesPerSecond: Int
    private var second: Int64 = .min
    private var admitted = 0
    private var suppressed = 0

    init(messagesPerSecond: Int) { self.messagesPerSecond = messagesPerSecond }

    /// Nil where the message is to be left out, else how many were since the last that was not.
    mutating func admit(at time: MediaTime) -> Int? {
        let current = time.milliseconds / 1000
        if current != second { (second, admitted) = (current, 0) }
        guard admitted < messagesPerSecond else {
            suppressed += 1
            return nil
        }
        admitted += 1
        defer { suppressed = 0 }
        return suppressed
    }
}
