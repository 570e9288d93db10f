import TestSupport
import Testing

/// Promise: what an operator meets before the first broadcast explains itself.
@Suite struct CommandLineTests {
    /// An environment file that empties `UPCAST_CONFIG` means no file (once: ":1:1: cannot be opened"), and a plan that
    /// is asked for before there is a destination counts one.
    @Test(.inItsTurn) func planWithoutAnything() async throws {
        try await blocking {
            let planning = try ChildProcess(
                ProductExecutable.upcastd.path, ["--plan"], environment: ["UPCAST_CONFIG": ""])
            #expect(planning.waitForExit(within: 20) == .code(0), "\(planning.errorTail)")
            let line = planning.output.split(separator: "\n").first { $0.hasPrefix("send buffers") } ?? ""
            #expect(line.hasSuffix("1 destination, assumed; none is configured"), "\(planning.output)")
            #expect(!line.contains(" 0.00 MiB"), "\(line)")
        }
    }

    /// Nobody but root can create the default folder of the sockets: the error says how it comes to be.
    @Test(.inItsTurn) func missingSocketFolder() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("missing")
            let daemon = try ChildProcess(
                ProductExecutable.upcastd.path, [],
                environment: [
                    "UPCAST_DESTINATIONS_0_URL": folder.file("out.flv"),
                    "UPCAST_INGEST_SOCKET": "/run/upcast-of-nobody/capture.sock",
                    "UPCAST_CONTROL_SOCKET": folder.file("control.sock"),
                ])
            #expect(daemon.waitForExit(within: 20) == .code(69), "\(daemon.errorTail)")
            for part in [
                "/run/upcast-of-nobody", "does not exist", "sudo install -d", "RuntimeDirectory=upcast-of-nobody",
                "UPCAST_INGEST_SOCKET",
            ] { #expect(daemon.errors.contains(part), "\(part): \(daemon.errors)") }
        }
    }
}
