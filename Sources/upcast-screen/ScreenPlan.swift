import Glibc
import MediaCore
import ScreenCapture
import UpcastClient

/// The checked command line.
struct ScreenPlan: Sendable {
    struct Mistake: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    var socket: String
    var name: String
    var display: String?
    var settings: ScreenGrabber.Settings
    var duration: MediaTime?
    var isQuiet: Bool

    init(_ command: UpcastScreen) throws(Mistake) {
        socket = command.socket ?? Self.environment("UPCAST_SOCKET") ?? CaptureConnection.defaultPath
        name = command.name
        display = command.display
        isQuiet = command.quiet
        guard command.monitor == nil || command.area == nil else {
            throw Mistake(description: "--monitor and --area exclude each other; --area is a part of the display")
        }
        var area = ScreenArea.display
        if let monitor = command.monitor { area = .monitor(monitor) }
        if let text = command.area { area = .rectangle(try Self.rectangle(text)) }
        settings = ScreenGrabber.Settings(area: area, rate: try Self.rate(command.fps), showsPointer: command.pointer,
            rules: try Self.rules(command))
        if let seconds = command.seconds {
            guard seconds > 0, seconds <= 1e8 else {
                throw Mistake(description: "--seconds \(seconds) is not a valid duration")
            }
            duration = MediaTime(seconds: seconds)
        }
        guard !command.json else { throw Mistake(description: "--json belongs to --list") }
    }

    /// A file that cannot be read is an error: something in it may be secret.
    private static func rules(_ command: UpcastScreen) throws(Mistake) -> WindowRules {
        var rules = WindowRules(process: ProcessFacts.look)
        do {
            if command.hideNotifications { try rules.add("type=notification") }
            for rule in command.hide { try rules.add(rule) }
            if let file = command.hideFile { try rules.add(file: try ProcessFacts.text(of: file), name: file) }
        } catch {
            throw Mistake(description: "\(error)")
        }
        return rules
    }

    static func rate(_ text: String) throws(Mistake) -> FrameRate {
        let parts = text.split(separator: "/", maxSplits: 1).map { Int($0) }
        guard let numerator = parts.first ?? nil, let denominator = parts.count == 1 ? 1 : parts[1],
            numerator > 0, denominator > 0, numerator <= 1_000_000, denominator <= 1_000_000,
            (1...240).contains(Double(numerator) / Double(denominator))
        else { throw Mistake(description: "--fps \(text) is not a frame rate from 1 to 240, such as 30 or 30000/1001") }
        return FrameRate(numerator, denominator)
    }

    static func rectangle(_ text: String) throws(Mistake) -> CaptureRectangle {
        let pattern = #/(\d{1,5})x(\d{1,5})\+(\d{1,5})\+(\d{1,5})/#
        guard let match = text.wholeMatch(of: pattern)?.output,
            let width = Int(match.1), let height = Int(match.2), let x = Int(match.3), let y = Int(match.4),
            width > 0, height > 0
        else { throw Mistake(description: "--area \(text) is not a rectangle; write 1280x720+40+20") }
        return CaptureRectangle(x: x, y: y, width: width, height: height)
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    var setup: BroadcastSetup {
        var setup = BroadcastSetup(clientName: name, convention: .exif)
        setup.source = .screen
        setup.expectedRate = CaptureFrameRate(settings.rate.numerator, settings.rate.denominator)
        return setup
    }
}
