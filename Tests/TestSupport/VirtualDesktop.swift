import Foundation
import Glibc
import LinuxSystem

/// A desktop without a monitor or a graphics card that shares its screen through the ScreenCast portal, like GNOME:
/// mutter, PipeWire with WirePlumber, and xdg-desktop-portal. Tests cannot click on GNOME's dialogue. In its place,
/// `Tests/desktop/screen-cast-backend.py` reads the answer from a file.
package final class VirtualDesktop: Sendable {
    package enum Part: CaseIterable, Sendable {
        case pipewire, sessionManager, compositor, backend, portal
    }

    /// The variables for programs in this session.
    package let environment: [String: String]
    package let bus: SessionBus
    private let folder: TemporaryDirectory
    private let size: String
    private let parts = Monitor<[Part: ChildProcess]>([:])
    /// The side of the mouse pointer, which is a white square, in pixels.
    private static let pointerSide = 24

    /// - Parameters:
    ///   - width: the width of the monitor, in pixels.
    ///   - height: the height of the monitor, in pixels.
    ///   - without: the parts that the session lacks.
    package init(width: Int, height: Int, without lacking: Set<Part> = []) throws {
        let folder = try TemporaryDirectory("desktop")
        self.folder = folder
        size = "\(width)x\(height)"
        try Self.writePointers(folder)
        try FileManager.default.createDirectory(atPath: folder.file("portals"), withIntermediateDirectories: true)
        try folder.write(
            """
            [portal]
            DBusName=org.freedesktop.impl.portal.desktop.upcast
            Interfaces=org.freedesktop.impl.portal.ScreenCast
            UseIn=GNOME

            """, to: "portals/upcast.portal")
        try folder.write("yes", to: "answer")
        let session = [
            "XDG_RUNTIME_DIR": folder.path, "HOME": folder.path, "XDG_STATE_HOME": folder.file("state"),
            "XDG_DATA_HOME": folder.file("data"), "XDG_CONFIG_HOME": folder.file("config"),
            "XDG_CACHE_HOME": folder.file("cache"), "XDG_CURRENT_DESKTOP": "GNOME", "XDG_SESSION_TYPE": "wayland",
            "XDG_DESKTOP_PORTAL_DIR": folder.file("portals"), "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": "",
            "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1", "XCURSOR_PATH": folder.file("icons"),
            "PULSE_SERVER": "unix:\(folder.file("none"))",
        ]
        // The portal keeps permissions in this service. Other services would start a second time beside those of this
        // session.
        bus = try SessionBus(environment: session, services: ["org.freedesktop.impl.portal.PermissionStore"])
        environment = session.merging(bus.environment) { $1 }
        for part in Part.allCases where !lacking.contains(part) { try start(part) }
    }

    deinit { parts.withLock { for part in $0.values { part.signal(SIGTERM) } } }

    // MARK: Parts

    /// Starts a part, and waits until it is ready.
    package func start(_ part: Part) throws {
        let (command, variables) = command(part)
        let process = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: environment.merging(variables) { $1 })
        parts.withLock { $0[part] = process }
        try waitFor("\(command[0])", evidence: { process.errorTail }) {
            guard process.isRunning else { throw TestFailure("\(command[0]) ended. \(process.errorTail)") }
            return isThere(part, process)
        }
    }

    private func command(_ part: Part) -> (command: [String], variables: [String: String]) {
        switch part {
        case .pipewire: (["pipewire"], [:])
        case .sessionManager: (["wireplumber"], [:])
        case .compositor:
            (
                [
                    "mutter", "--headless", "--wayland", "--no-x11", "--wayland-display=wayland-0",
                    "--virtual-monitor", size,
                ], ["WAYLAND_DISPLAY": ""]
            )
        case .backend:
            // Only Debian's own Python has the modules.
            (
                ["/usr/bin/python3", Self.backend, folder.file("answer"), folder.file("pointer")], [:]
            )
        case .portal: (["/usr/libexec/xdg-desktop-portal"], [:])
        }
    }

    private static var backend: String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "desktop/screen-cast-backend.py").path
    }

    private func isThere(_ part: Part, _ process: ChildProcess) -> Bool {
        switch part {
        case .pipewire: FileManager.default.fileExists(atPath: folder.file("pipewire-0"))
        // It links streams when they come, even if they come before it runs.
        case .sessionManager: true
        case .compositor:
            FileManager.default.fileExists(atPath: folder.file("wayland-0")) && bus.has("org.gnome.Mutter.ScreenCast")
        case .backend: process.output.contains("ready\n")
        case .portal: bus.has("org.freedesktop.portal.Desktop")
        }
    }

    /// Ends a part, as a crash does.
    package func end(_ part: Part) throws {
        let process = parts.withLock { $0.removeValue(forKey: part) }
        try process?.stop(SIGKILL)
        // These files are left by a server that was killed.
        let files: [Part: [String]] = [.pipewire: ["pipewire-0"], .compositor: ["wayland-0", "wayland-0.lock"]]
        for file in files[part] ?? [] { try? FileManager.default.removeItem(atPath: folder.file(file)) }
    }

    // MARK: The user

    /// The user's answer from now on: `yes` (the monitor), `window` (the front one), `no`, or none at all.
    package func answer(_ text: String) throws { try folder.write(text, to: "answer") }

    /// The events of the desktop's dialogue so far, one per line: `asked`, `restored`, `dialogue closed`.
    package var dialogue: [String] {
        backendLines.filter { $0 != "ready" && !$0.hasPrefix("pointer ") }
    }

    private var backendLines: [String] {
        let said = parts.withLock { $0[.backend]?.output } ?? ""
        return said.split(separator: "\n").map(String.init)
    }

    /// Ends the sharing, as a click on the desktop's panel does.
    package func stopSharing() { parts.withLock { $0[.backend]?.signal(SIGUSR1) } }

    /// Ends a part, and then the sharing. Returns when the portal has told its clients.
    package func stopSharing(after part: Part) throws {
        let monitor = try ChildProcess(
            "dbus-monitor", ["--address", bus.address, "interface=org.freedesktop.portal.Session,member=Closed"])
        try waitFor("dbus-monitor", while: monitor) { monitor.output.contains("NameLost") }
        try end(part)
        stopSharing()
        try waitFor("the sharing to end", while: monitor) { monitor.output.contains("member=Closed") }
        // The bus daemon may have written to the monitor only. Until it answers, it has written to all.
        _ = bus.has("org.freedesktop.portal.Desktop")
        try monitor.stop(SIGKILL)
    }

    /// Moves the mouse.
    package func movePointer(x: Int, y: Int) throws {
        try folder.write("\(x) \(y)", to: "pointer")
        try waitFor("the mouse to move") { backendLines.last { $0.hasPrefix("pointer ") } == "pointer \(x) \(y)" }
    }

    /// Covers the screen with a picture, until the process ends.
    package func show(_ picture: I420Image) throws -> ChildProcess {
        try MediaProbe.writePNG(picture, to: folder.file("picture.png"))
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-y", "-i", folder.file("picture.png"), "-pix_fmt", "bgr0", "-f", "rawvideo",
                folder.file("picture.raw"),
            ])
        return try window(folder.file("picture.raw"), width: picture.width, height: picture.height)
    }

    /// A full-screen window of `wayland-window`.
    package func window(_ what: String, width: Int, height: Int) throws -> ChildProcess {
        try ChildProcess(
            ProductExecutable.waylandWindow.path, [what, "\(width)", "\(height)"], environment: environment)
    }

    /// The file in which `upcast-screen` keeps its permission.
    package var token: String { folder.file("state/upcast/portal-upcast-screen") }

    // MARK: The pointer

    /// Writes a theme with one shape (the file format of libXcursor), under the name that mutter asks for.
    private static func writePointers(_ folder: TemporaryDirectory) throws {
        let side = UInt32(pointerSide)
        let header: [UInt32] = [0x7275_6358, 16, 0x1_0000, 1, 0xfffd_0002, side, 28]
        let image: [UInt32] = [36, 0xfffd_0002, side, 1, side, side, 0, 0, 0]
        let words = header + image + [UInt32](repeating: .max, count: pointerSide * pointerSide)
        let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
        let theme = folder.file("icons/Adwaita")
        try FileManager.default.createDirectory(atPath: theme + "/cursors", withIntermediateDirectories: true)
        try Data("[Icon Theme]\nName=Adwaita\n".utf8).write(to: URL(filePath: theme + "/index.theme"))
        for name in ["default", "left_ptr"] { try Data(bytes).write(to: URL(filePath: theme + "/cursors/" + name)) }
    }
}
