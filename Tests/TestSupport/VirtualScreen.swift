import Foundation
import Synchronization

/// An X server without a monitor, with its own display number, and with a window that plays a test scene.
package final class VirtualScreen: Sendable {
    package let display: String
    package let width: Int
    package let height: Int
    private let server: ChildProcess
    /// What its window managers need: buses and folders.
    private let needs = Mutex<[any Sendable]>([])

    package enum Program: String, Sendable {
        case xvfb = "Xvfb"
        /// It resizes its screen as xrandr asks.
        case xvnc = "Xvnc"
    }

    /// - Parameters:
    ///   - program: the X server.
    ///   - display: nil for a free one.
    ///   - depth: the bits of a pixel: 16, 24 or 30.
    ///   - without: extensions that the server does not have.
    package init(
        _ program: Program = .xvfb, width: Int, height: Int, display wanted: String? = nil, depth: Int = 24,
        without: [String] = []
    ) throws {
        self.width = width
        self.height = height
        let screen =
            switch program {
            case .xvfb: ["-screen", "0", "\(width)x\(height)x\(depth)"]
            // It listens for no viewer.
            case .xvnc: ["-geometry", "\(width)x\(height)", "-depth", "\(depth)", "-rfbport", "-1"]
            }
        let server = try ChildProcess(
            program.rawValue,
            (wanted.map { [$0] } ?? []) + screen + ["-displayfd", "1", "-nolisten", "tcp", "-noreset"]
                + without.flatMap { ["-extension", $0] })
        self.server = server
        // The server chooses a free number and writes it once it accepts clients.
        let number = try waitFor("\(program.rawValue) to name its display", evidence: { server.errorTail }) {
            let text = server.output
            return text.hasSuffix("\n") ? text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
        display = ":" + number
    }

    deinit { server.signal(SIGTERM) }

    package func signal(_ number: CInt) { server.signal(number) }

    /// Ends the server, and waits: until then, no other one can have its number.
    package func end() throws { try server.stop(SIGTERM) }

    /// Starts a window manager, which ends with the screen. Returns once it has announced itself.
    ///
    /// - Parameter slowness: how many times as long KWin's animations take.
    package func manage(with name: String, slowness: Int = 1) throws -> ChildProcess {
        var variables = ["DISPLAY": display]
        switch name {
        case "xfwm4":
            // It composites, and asks its settings of a service.
            let bus = try SessionBus(environment: variables)
            needs.withLock { $0.append(bus) }
            variables.merge(bus.environment) { $1 }
        case "icewm":
            // The colours of its processor graph are those of secret windows.
            let folder = try TemporaryDirectory("icewm")
            _ = try folder.write("TaskBarShowCPUStatus=0\n", to: "preferences")
            needs.withLock { $0.append(folder) }
            variables["ICEWM_PRIVCFG"] = folder.path
        case "kwin_x11":
            let home = try TemporaryDirectory("kwin")
            needs.withLock { $0.append(home) }
            _ = try home.write("[KDE]\nAnimationDurationFactor=\(slowness)\n", to: "kdeglobals")
            let folders = ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].map { ($0, home.path) }
            variables.merge(folders + [("QT_QPA_PLATFORM", "xcb")]) { $1 }
            // Without a graphics card, there are no animations.
            variables.merge(["KWIN_COMPOSE": "O2", "KWIN_EFFECTS_FORCE_ANIMATIONS": "1"]) { $1 }
            let bus = try SessionBus(environment: variables)
            needs.withLock { $0.append(bus) }
            variables.merge(bus.environment) { $1 }
        default: break
        }
        let manager = try ChildProcess(name, [], environment: variables)
        // openbox may not show a window that is mapped while it starts. xfwm4 lists no windows while there are none.
        let sign = name == "xfwm4" ? "_NET_SUPPORTING_WM_CHECK" : "_NET_CLIENT_LIST"
        try waitFor("\(name) to start", while: manager) {
            try ChildProcess.run("xprop", ["-display", display, "-root", sign]).contains("window id")
        }
        return manager
    }

    /// Shows `picture` over the whole screen, with a red square of 40 pixels that moves along its lower edge.
    package func play(_ picture: I420Image) throws -> ChildProcess {
        let folder = try TemporaryDirectory("scene")
        try MediaProbe.writePNG(picture, to: folder.file("scene.png"))
        // The picture lies on a plain colour, which has a frame rate. The overlay repeats the picture's single frame.
        let scene =
            "color=black:size=\(width)x\(height):rate=30[plain];movie=\(folder.file("scene.png"))[picture];"
            + "[plain][picture]overlay=format=rgb[back];color=red:size=40x40:rate=30[square];"
            + "[back][square]overlay=format=rgb:x=mod(n*6\\,\(width - 40)):y=\(height - 40)"
        let player = try ChildProcess(
            "ffplay",
            [
                "-v", "error", "-noborder", "-left", "0", "-top", "0", "-x", "\(width)", "-y", "\(height)",
                "-f", "lavfi", scene,
            ], environment: ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy", "SDL_VIDEODRIVER": "x11"])
        // The window comes up before it reads the scene's file. Until then, the whole screen is black.
        try waitFor("the scene to be on the screen", evidence: { player.errorTail }) {
            guard player.isRunning else { throw TestFailure("ffplay ended. \(player.errorTail)") }
            return try grab().meanLuma > 40
        }
        return player
    }

    /// Covers the whole screen with a colour that ffmpeg knows by name.
    ///
    /// - Parameter size: that of the screen now; nil for that of its start.
    package func fill(_ colour: String, size: (width: Int, height: Int)? = nil) throws -> ChildProcess {
        let (width, height) = size ?? (width, height)
        return try ChildProcess(
            "ffplay",
            [
                "-v", "error", "-noborder", "-left", "0", "-top", "0", "-x", "\(width)", "-y", "\(height)",
                "-f", "lavfi", "color=\(colour):size=\(width)x\(height):rate=1",
            ], environment: ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy", "SDL_VIDEODRIVER": "x11"])
    }

    /// The current content of the screen, as BT.709 video range.
    package func grab(withPointer: Bool = false) throws -> I420Image {
        let folder = try TemporaryDirectory("grab")
        _ = try ChildProcess.run(
            "ffmpeg",
            ["-nostdin", "-v", "error"] + grabArguments(rate: 30, withPointer: withPointer) + [
                "-frames:v", "1", "-vf", Self.toVideoRange, "-f", "rawvideo", folder.file("raw"),
            ])
        let bytes = [UInt8](FileManager.default.contents(atPath: folder.file("raw")) ?? Data())
        guard bytes.count == I420Image.byteCount(width: width, height: height) else {
            throw TestFailure("a grab of \(bytes.count) bytes")
        }
        return I420Image(width: width, height: height, bytes: bytes)
    }

    /// ffmpeg's input options for this screen.
    package func grabArguments(rate: Int, withPointer: Bool = false) -> [String] {
        [
            "-f", "x11grab", "-draw_mouse", withPointer ? "1" : "0", "-framerate", "\(rate)",
            "-video_size", "\(width)x\(height)",
            "-i", display,
        ]
    }

    /// ffmpeg's filter from the output of x11grab to BT.709 video range 4:2:0.
    package static let toVideoRange = "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd,format=yuv420p"
}
