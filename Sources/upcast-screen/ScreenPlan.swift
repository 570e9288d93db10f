import CaptureSources
import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import ScreenCapture
import UpcastClient
import WaylandCapture

/// The checked command line.
struct ScreenPlan: Sendable {
    struct Mistake: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    var socket: String
    var name: String
    var source: SourceChoice
    var settings: ScreenGrabber.Settings
    /// The window to send; nil for the display.
    var window: WindowChoice?
    var sound: SoundPlan
    var duration: MediaTime?
    var isQuiet: Bool
    /// The curtain is raised while the session is locked.
    var watchesSession: Bool

    init(_ command: UpcastScreen) throws(Mistake) {
        try command.refuseEmptyOptions()
        socket = command.socket ?? ProcessEnvironment.current["UPCAST_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
            ?? CaptureConnection.defaultPath
        name = command.name
        isQuiet = command.quiet
        watchesSession = command.curtainWhenLocked
        let compositor = try command.compositor()
        let isWayland = compositor != nil || command.portal
        if isWayland { try command.refuseRulesOnWayland() }
        if command.portal { try command.refuseChoicesOfPortal() }
        guard compositor != nil || command.monitor == nil || command.area == nil else {
            throw Mistake(description: "--monitor and --area exclude each other; --area is a part of the display")
        }
        var area = ScreenArea.display
        if let monitor = command.monitor { area = .monitor(monitor) }
        let part = try command.area.map { text throws(Mistake) in try Self.rectangle(text) }
        if let part { area = .rectangle(part) }
        settings = ScreenGrabber.Settings(area: area, rate: try Self.rate(command.fps), showsPointer: command.pointer,
            rules: try Self.rules(command), front: try Self.front(command))
        source = command.portal ? .portal(try command.sharing) : .x11(display: command.display)
        if let compositor {
            source = .wayland(
                socket: compositor,
                WaylandGrabber.Settings(
                    output: command.monitor, part: part, rate: settings.rate, showsPointer: command.pointer),
                instead: command.wayland == nil ? try command.sharing : nil)
        }
        window = try Self.window(command)
        guard window == nil || compositor == nil else {
            throw Mistake(
                description: "--window works on X11 only; on Wayland, send an output with --monitor, or share one "
                    + "window where the desktop asks (GNOME, KDE Plasma)")
        }
        duration = try command.seconds.map { seconds throws(Mistake) in
            do { return try SourceArguments.duration(seconds) } catch { throw Mistake(description: "\(error)") }
        }
        sound = try SoundPlan(sound: command.sound, microphone: command.microphone, isQuiet: command.quiet)
        guard !command.json else { throw Mistake(description: "--json belongs to --list") }
    }

    private static func window(_ command: UpcastScreen) throws(Mistake) -> WindowChoice? {
        guard let text = command.window else { return nil }
        for (option, isGiven) in [
            ("--monitor", command.monitor != nil), ("--area", command.area != nil),
            ("--hide-when-unfocused", !command.hideWhenUnfocused.isEmpty),
        ] where isGiven {
            throw Mistake(description: "--window and \(option) exclude each other; --window sends the window alone")
        }
        do { return try WindowChoice(text, process: ProcessFacts.look) } catch {
            throw Mistake(description: "\(error)")
        }
    }

    private static func front(_ command: UpcastScreen) throws(Mistake) -> WindowRules? {
        guard !command.hideWhenUnfocused.isEmpty else { return nil }
        var rules = WindowRules(process: ProcessFacts.look)
        do { for rule in command.hideWhenUnfocused { try rules.add(rule) } } catch {
            throw Mistake(description: "\(error)")
        }
        return rules
    }

    /// A file that cannot be read is an error: its rules may hide something secret.
    private static func rules(_ command: UpcastScreen) throws(Mistake) -> WindowRules {
        var rules = WindowRules(process: ProcessFacts.look)
        do {
            if command.hideNotifications { try rules.add("type=notification") }
            for rule in command.hide { try rules.add(rule) }
            for file in command.hideFile { try rules.add(file: try ProcessFacts.text(of: file), name: file) }
        } catch {
            throw Mistake(description: "\(error)")
        }
        return rules
    }

    static func rate(_ text: String) throws(Mistake) -> FrameRate {
        guard let rate = try? SourceArguments.rate(text), (1...240).contains(rate.framesPerSecond) else {
            throw Mistake(
                description: "--fps \(text) is not a frame rate: a whole number or a fraction from 1 to 240, such as "
                    + "30 or 30000/1001")
        }
        return rate
    }

    static func rectangle(_ text: String) throws(Mistake) -> CaptureRectangle {
        guard let place = try? SourceArguments.rectangle(text), place.width > 0, place.height > 0, place.x >= 0,
            place.y >= 0
        else {
            throw Mistake(
                description: "--area \(text) is not a rectangle within a display: write width, height, left and top in "
                    + "whole pixels, as 1280x720+40+20")
        }
        return CaptureRectangle(x: place.x, y: place.y, width: place.width, height: place.height)
    }

    static func environment(_ name: String) -> String? {
        ProcessEnvironment.current[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter recorded: the sound that is recorded at the start. A declared track that does not come delays
    ///   others.
    func setup(_ recorded: Set<CaptureAudioSource>) -> BroadcastSetup {
        var setup = BroadcastSetup(clientName: name, convention: .exif)
        setup.source = .screen
        setup.sendsAppAudio = recorded.contains(.app)
        setup.sendsMicrophone = recorded.contains(.microphone)
        setup.expectedRate = CaptureFrameRate(settings.rate.numerator, settings.rate.denominator)
        return setup
    }
}
