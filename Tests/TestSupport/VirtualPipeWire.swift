import Foundation

/// PipeWire with WirePlumber and pipewire-pulse, without hardware, with one sink without listeners.
package final class VirtualPipeWire: Sendable {
    /// The variables by which programs find the server.
    package let environment: [String: String]
    private let folder: TemporaryDirectory
    private let bus: SessionBus
    private let parts: [ChildProcess]

    package init() throws {
        let folder = try TemporaryDirectory("pipewire")
        self.folder = folder
        let socket = folder.file("pulse/native")
        let home = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.file("state"),
            "XDG_CONFIG_HOME": folder.file("config"), "PULSE_SERVER": "unix:\(socket)",
        ]
        bus = try SessionBus(environment: home)
        environment = home.merging(bus.environment) { $1 }
        // What pipewire-pulse runs. Its package would make it the sound server of this machine.
        let pulse = try folder.write(Self.pulse, to: "pulse.conf")
        var parts: [ChildProcess] = []
        for (command, file) in [
            (["pipewire"], "pipewire-0"), (["wireplumber"], ""), (["pipewire", "-c", pulse], "pulse/native"),
        ] {
            let part = try ChildProcess(command[0], Array(command.dropFirst()), environment: environment)
            parts.append(part)
            try waitFor("\(command)", while: part) { FileManager.default.fileExists(atPath: folder.file(file)) }
        }
        self.parts = parts
        try waitFor("the server to answer") { (try? pactl("info")) != nil }
        _ = try pactl("load-module", "module-null-sink", "sink_name=sink")
        // Until WirePlumber is there, it is refused.
        try waitFor("the sink to be the default one") {
            _ = try? pactl("set-default-sink", "sink")
            return (try? pactl("get-default-sink")) == "sink\n"
        }
    }

    deinit { for part in parts { part.signal(SIGTERM) } }

    private static let pulse = """
        context.spa-libs = {
            audio.convert.* = audioconvert/libspa-audioconvert
            support.* = support/libspa-support
        }
        context.modules = [
            { name = libpipewire-module-protocol-native }
            { name = libpipewire-module-client-node }
            { name = libpipewire-module-adapter }
            { name = libpipewire-module-metadata }
            { name = libpipewire-module-protocol-pulse, args = { server.address = [ "unix:native" ] } }
        ]
        """

    @discardableResult package func pactl(_ arguments: String...) throws -> String {
        try ChildProcess.run("pactl", ["-s", environment["PULSE_SERVER"] ?? ""] + arguments)
    }
}
