internal import CLibAV
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Redirects the log messages of libavcodec, libavutil and x264.
///
/// By default they go to standard error, and a failing encoder logs for every frame.
package enum LibAVLog {
    package enum Level: Int, CaseIterable, Sendable {
        case error, warning, information
    }

    /// The most messages of one level in a second. The rest are counted, and the count is logged before the next
    /// message.
    package static let messagesPerSecond = 10
    /// The maximum size of a message in bytes; longer ones are cut.
    static let maximumMessageBytes = 512

    private struct State {
        var handler: (@Sendable (Level, String) -> Void)?
        var gates = Level.allCases.map { _ in MessageGate(messagesPerSecond: LibAVLog.messagesPerSecond) }
        /// The messages of threads that collect them.
        var collected: [pthread_t: [String]] = [:]
    }

    private static let state = Monitor(State())
    /// Once for the process.
    private static let redirection: Void = {
        unsafe av_log_set_callback { object, level, format, arguments in
            guard level <= AV_LOG_INFO, let format = unsafe format, let arguments = unsafe arguments else { return }
            unsafe LibAVLog.write(object, level, format, arguments)
        }
    }()

    /// Sends the messages of the whole process to `handler`. The last call wins.
    ///
    /// The handler is called on any thread that uses libavcodec, never concurrently, with one line without its line
    /// end. It must not call libavcodec. Debug and verbose messages are dropped before they are formatted.
    package static func install(_ handler: @escaping @Sendable (_ level: Level, _ message: String) -> Void) {
        state.withLock { $0.handler = handler }
        redirection
    }

    /// Collects errors and warnings that this thread logs while `body` runs, without the name of the component. The
    /// handler gets them, too, if one is installed.
    static func collecting<Result>(_ body: () -> Result) -> (Result, messages: [String]) {
        redirection
        let thread = pthread_self()
        state.withLock { $0.collected[thread] = [] }
        let result = body()
        return (result, state.withLock { $0.collected.removeValue(forKey: thread) } ?? [])
    }

    private static func write(
        _ object: UnsafeMutableRawPointer?, _ level: Int32, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer
    ) {
        let now = MonotonicClock().now()
        let grade: Level = level <= AV_LOG_ERROR ? .error : level <= AV_LOG_WARNING ? .warning : .information
        state.withLock { state in
            let collects = grade != .information && state.collected[pthread_self()] != nil
            guard collects || state.handler != nil else {
                return unsafe av_log_default_callback(object, level, format, arguments)
            }
            let handler = state.gates[grade.rawValue].admit(at: now).flatMap { suppressed in
                if suppressed > 0 { state.handler?(grade, "\(suppressed) messages of libavcodec were left out") }
                return state.handler
            }
            guard collects || handler != nil else { return }
            let message = unsafe line(object, level, format, arguments)
            guard !message.isEmpty else { return }
            if collects { state.collected[pthread_self()]?.append(withoutName(message)) }
            handler?(grade, message)
        }
    }

    private static func line(
        _ object: UnsafeMutableRawPointer?, _ level: Int32, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer
    ) -> String {
        let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumMessageBytes) { line in
            var printPrefix: Int32 = 1
            unsafe av_log_format_line2(
                object, level, format, arguments, line.baseAddress, Int32(line.count), &printPrefix)
            return unsafe line.baseAddress.map { unsafe String(cString: $0) } ?? ""
        }
        return String(message.prefix { $0 != "\n" })
    }

    /// libavutil puts `[libx264 @ 0x55d0] ` before a message.
    private static func withoutName(_ message: String) -> String {
        guard message.hasPrefix("["), let end = message.firstRange(of: "] ") else { return message }
        return String(message[end.upperBound...])
    }
}

/// Admits a number of messages in each second and counts the others.
struct MessageGate {
    let messagesPerSecond: Int
    private var second: Int64 = .min
    private var admitted = 0
    private var suppressed = 0

    init(messagesPerSecond: Int) { self.messagesPerSecond = messagesPerSecond }

    /// Nil to suppress the message, else the number suppressed since the last admitted one.
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
