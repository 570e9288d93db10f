import Glibc
import UpcastPrivacy

/// An app that is captured, for tests: raises the curtain, hides a region, says so, and then prints each capture state
/// until it is killed.
///
///     captured-app SOCKET
@main
enum CapturedAppMain {
    static func main() async throws {
        let socket = CommandLine.arguments[1]
        let app = CapturedApp(name: "kiosk", socket: socket, timeout: .seconds(10))
        try await app.raiseCurtain(reason: "going away")
        try await app.hide(.normalized(x: 0.1, y: 0.5, width: 0.3, height: 0.1), named: "password")
        say("hidden")
        let monitor = try CaptureStateMonitor(app: nil, socket: socket)
        for await state in monitor.states { say("\(state)") }
    }

    /// At once, also into a file.
    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }
}
