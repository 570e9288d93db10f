import Glibc
import MediaCore
import UpcastClient

/// What a person at a terminal sees: one line that changes, and lines for what must not be missed. Main thread only.
struct ProgressLine {
    private let isShown: Bool
    private var state = ""
    private var refused = 0
    private var isLineOpen = false
    private var ticks = 0

    /// - Parameter isShown: false shows errors only.
    init(isShown: Bool) { self.isShown = isShown }

    mutating func began(_ welcome: CaptureWelcome, at path: String) {
        let rate = Double(welcome.frameRate.numerator) / Double(welcome.frameRate.denominator)
        line(
            "broadcast \(welcome.broadcastID) at \(path): canvas \(welcome.canvasWidth)x\(welcome.canvasHeight), "
                + "\(Self.tenths(rate)) frames a second")
    }

    mutating func show(_ event: CaptureEvent) {
        switch event {
        case .state(_, _, let text): state = text
        case .refused(_, let sequence, let text):
            refused += 1
            report("message \(sequence) was refused: \(text)")
        case .goodbye: break
        }
    }

    /// Draws the line again, at most five times a second.
    mutating func update(frames: Int64, time: MediaTime, isPaused: Bool) {
        ticks += 1
        guard isShown, ticks % 4 == 1 else { return }
        let seconds = time.secondsAsDouble
        let whole = Int(seconds)
        var parts = [
            "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)", "\(frames) frames",
            "\(Self.tenths(seconds > 0 ? Double(frames) / seconds : 0))/s",
        ]
        if refused > 0 { parts.append("\(refused) refused") }
        if isPaused { parts.append("paused") }
        if !state.isEmpty { parts.append(state) }
        Self.write("\r\u{1b}[K" + parts.joined(separator: "  "))
        isLineOpen = true
    }

    mutating func ended(_ goodbye: CaptureGoodbye) {
        line(
            "\(goodbye.framesTaken) frames and \(goodbye.audioSamples) audio samples taken, "
                + "\(goodbye.framesDropped) frames dropped" + (goodbye.text.isEmpty ? "" : "; \(goodbye.text)"))
    }

    /// A line that is told whatever was asked for.
    mutating func report(_ text: String) {
        closeLine()
        Self.write("upcast-send: \(text)\n")
    }

    private mutating func line(_ text: String) {
        guard isShown else { return }
        closeLine()
        Self.write(text + "\n")
    }

    private mutating func closeLine() {
        if isLineOpen { Self.write("\r\u{1b}[K") }
        isLineOpen = false
    }

    /// Puts text on standard error, in one piece and at once.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
