import Glibc
import MediaCore
import UpcastClient
import Wording

/// The output on a terminal: one progress line, and separate lines for errors. Main thread only.
struct ProgressLine {
    private let isShown: Bool
    private var state = ""
    /// Whether viewers see a curtain.
    private var isCurtained = false
    /// Frames that the daemon dropped; nil before its first counters.
    private var dropped: UInt64?
    private var refused = 0
    private var refusalsTold: Set<String> = []
    private var outages = OutageReport()
    private var isLineOpen = false
    private let isQuiet: Bool
    private var hasToldOfLivePipes = false
    /// How many cut-off inputs were reported.
    private var cutTold = 0
    private var ticks = 0
    /// The maximum number of reasons for refused messages that are printed.
    private static let maxRefusalsTold = 5

    /// - Parameters:
    ///   - isShown: false shows errors and notices only.
    ///   - isQuiet: true shows errors only.
    init(isShown: Bool, isQuiet: Bool) {
        self.isShown = isShown
        self.isQuiet = isQuiet
    }

    mutating func began(_ welcome: CaptureWelcome, at path: String) {
        line(
            "broadcast \(welcome.broadcastID) at \(path): canvas \(welcome.canvas), "
                + "\(Self.tenths(welcome.frameRate.framesPerSecond)) frames/s")
    }

    mutating func show(_ event: CaptureEvent) {
        switch event {
        case .state(.curtainUp, _): isCurtained = true
        case .state(.curtainDown, _): isCurtained = false
        case .state(let state, let text):
            self.state = Self.name(state, text)
            if let sentence = outages.sentence(state, text) { report(sentence) }
        case .counters(let counters): dropped = counters.framesDropped
        case .refused(let refusal):
            refused += 1
            guard refusalsTold.count < Self.maxRefusalsTold, refusalsTold.insert(refusal.text).inserted else { return }
            report("message \(refusal.sequence) was refused: \(refusal.text)")
        case .goodbye: break
        }
    }

    /// Draws the line before the inputs start.
    mutating func wait() { draw(["waiting for the first samples", state]) }

    /// Updates the line at most five times a second.
    ///
    /// - Parameters:
    ///   - frames: the number of sent frames.
    ///   - late: the number of frames that were too late to send.
    mutating func update(frames: Int64, late: Int64, time: MediaTime, isPaused: Bool) {
        let seconds = time.secondsAsDouble
        let whole = Int(seconds)
        draw([
            "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)",
            Self.amount(frames, "frame"),
            dropped.map { "\($0) dropped" } ?? "",
            isPaused ? "paused" : "",
            isCurtained ? "curtain up" : "",
            late > 0 ? "\(late) late" : "",
            refused > 0 ? "\(refused) refused" : "",
            state,
            seconds >= 1 ? "\(Self.tenths(Double(frames) / seconds))/s" : "",
        ])
    }

    /// - Parameter late: the number of frames that were too late to send.
    mutating func ended(_ goodbye: CaptureGoodbye, late: Int64) {
        if refused > refusalsTold.count { report("\(refused) messages were refused") }
        if late > 0 { report("\(Self.amount(late, "frame")) came too late to be sent") }
        let counters = goodbye.counters
        let (frames, samples) = (
            Self.amount(counters.framesTaken, "frame"), Self.amount(counters.audioSamples, "audio sample")
        )
        let sentence = "\(frames) and \(samples) accepted, \(Self.amount(counters.framesDropped, "frame")) dropped"
        if isShown {
            line(sentence)
        } else if counters.framesDropped > 0 {
            tell(sentence)
        }
    }

    /// Reports each cut-off input once.
    mutating func tell(of cut: [CutInput]) {
        for input in cut.dropFirst(cutTold) { report(input.sentence) }
        cutTold = cut.count
    }

    /// Reports once that live pipes are stamped by arrival.
    mutating func tellOfLivePipes() {
        guard !isQuiet, !hasToldOfLivePipes else { return }
        hasToldOfLivePipes = true
        report(
            "live pipes have no times, so that sound and video may differ by up to 70 ms; one NUT stream of "
                + "ffmpeg -copyts is exact (see --help)")
    }

    /// Prints a line, unless `--quiet` is given.
    mutating func tell(_ text: String) { if !isQuiet { report(text) } }

    /// Prints a line, even with `--quiet`.
    mutating func report(_ text: String) {
        closeLine()
        Self.write("upcast-send: \(text.withHiddenCharactersReplaced)\n")
    }

    /// Draws the first parts that fit, because a wrapped line cannot be overwritten.
    private mutating func draw(_ parts: [String]) {
        ticks += 1
        guard isShown, ticks % 4 == 1 else { return }
        let room = Self.columns - 1
        var text = ""
        for part in parts where !part.isEmpty {
            let longer = text.isEmpty ? part : text + "  " + part
            guard longer.count <= room else { break }
            text = longer
        }
        Self.write("\r\u{1b}[K" + text)
        isLineOpen = true
    }

    private mutating func line(_ text: String) {
        guard isShown else { return }
        closeLine()
        Self.write(text.withHiddenCharactersReplaced + "\n")
    }

    private mutating func closeLine() {
        if isLineOpen { Self.write("\r\u{1b}[K") }
        isLineOpen = false
    }

    private static func name(_ state: BroadcastState, _ text: String) -> String {
        switch state {
        case .connecting: "connecting"
        case .live: "live"
        case .congested(let late): "congested: \(tenths(MediaTime(late).secondsAsDouble)) s late"
        case .reconnecting: "reconnecting"
        case .slowDown(let framesPerSecond): "reduce to \(framesPerSecond) frames/s"
        case .draining: "draining"
        case .degraded: "one destination lost"
        case .curtainUp: "curtain up"
        case .curtainDown: ""
        case .other: text
        }
    }

    /// The current width of the terminal; 80 if it is unknown.
    private static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Prints an error of several lines, which may repeat arguments.
    static func write(lines text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        write(lines.map { String($0).withHiddenCharactersReplaced + "\n" }.joined())
    }

    /// Writes text to standard error in one call.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func amount(_ count: some BinaryInteger, _ unit: String) -> String {
        "\(count) \(unit)\(count == 1 ? "" : "s")"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
