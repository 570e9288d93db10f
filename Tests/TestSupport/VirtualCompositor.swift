import Foundation
import Glibc
import LinuxSystem

/// A Wayland compositor (sway) without a monitor or a graphics card, with its own folder and output.
package final class VirtualCompositor: Sendable {
    /// The name of the first output.
    package static let output = "HEADLESS-1"
    /// The path of its socket.
    package let socket: String
    private let folder: TemporaryDirectory
    private let control: String
    private let server: ChildProcess
    /// sway refuses to run as root.
    private static let nobody: uid_t = 65_534

    /// - Parameters:
    ///   - width: the width of the first output, in pixels.
    ///   - height: the height of the first output, in pixels.
    ///   - earlier: a compositor that has ended, whose socket this one takes.
    ///   - outer: a compositor whose windows are the outputs of this one, `WL-1` and so on. An output goes when its
    ///     window is closed. (Headless outputs of sway 1.7 cannot be switched off.)
    package init(
        width: Int, height: Int, after earlier: VirtualCompositor? = nil, inside outer: VirtualCompositor? = nil
    ) throws {
        folder = try earlier?.folder ?? TemporaryDirectory("wayland")
        let isRoot = geteuid() == 0
        if isRoot, chown(folder.path, Self.nobody, Self.nobody) != 0 { throw Errno.current }
        try folder.write(
            "output * resolution \(width)x\(height) bg #000000 solid_color\nxwayland disable\n", to: "config")
        if isRoot, chmod(folder.file("config"), 0o644) != 0 { throw Errno.current }
        control = folder.file("sway.sock")
        let identity = isRoot
            ? ["setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", "--pdeathsig", "KILL"]
            : ["env"]
        let command = identity + ["sway", "-c", folder.file("config")]
        let server = try ChildProcess(
            command[0], Array(command.dropFirst()),
            environment: [
                "XDG_RUNTIME_DIR": folder.path, "HOME": folder.path, "SWAYSOCK": control,
                "WLR_BACKENDS": outer == nil ? "headless" : "wayland", "WLR_RENDERER": "pixman",
                "WLR_LIBINPUT_NO_DEVICES": "1", "WAYLAND_DISPLAY": outer?.socket ?? "", "DISPLAY": "",
            ])
        self.server = server
        let path = folder.path
        let name = try waitFor("sway to listen", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("sway ended. \(server.errorTail)") }
            return try FileManager.default.contentsOfDirectory(atPath: path).first {
                $0.hasPrefix("wayland-") && !$0.hasSuffix(".lock")
            }
        }
        socket = folder.file(name)
        // sway answers after it has read its configuration.
        try waitFor("sway to answer", evidence: { server.errorTail }) {
            (try? self.tell("nop")) != nil
        }
    }

    deinit { server.signal(SIGTERM) }

    /// Sends a command to sway.
    package func tell(_ command: String) throws {
        try ChildProcess.run("swaymsg", ["-q", "-s", control, "--", command])
    }

    /// Fills an output with a colour, such as `#c08040`.
    package func fill(_ colour: String, output: String = VirtualCompositor.output) throws {
        try tell("output \(output) bg \(colour) solid_color")
    }

    /// Covers the first output with a picture, however the output is turned.
    package func show(_ picture: I420Image) throws {
        try MediaProbe.writePNG(picture, to: folder.file("picture.png"))
        try tell("output \(Self.output) bg \(folder.file("picture.png")) stretch")
    }

    package func signal(_ signal: CInt) { server.signal(signal) }

    /// Ends the compositor as a logout does.
    package func end() throws { try server.stop(SIGTERM) }
}
