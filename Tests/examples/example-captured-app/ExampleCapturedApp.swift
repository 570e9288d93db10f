import UpcastPrivacy

/// Keeps a password from viewers: hides its field in every capture, and everything while it is typed.
@main
enum ExampleCapturedApp {
    static func main() async throws {
        let socket = CommandLine.arguments.dropFirst().first ?? CapturedApp.defaultSocket
        let app = CapturedApp(name: "example", socket: socket)

        // The app is consulted: viewers see nothing of a capture before this has returned.
        let monitor = try CaptureStateMonitor(app: "example", socket: socket) { state in
            guard case .captured = state else { return }
            try app.hide(.normalized(x: 0.1, y: 0.5, width: 0.3, height: 0.1), named: "password")
        }

        var wasCaptured = false
        for await state in monitor.states {
            switch state {
            case .captured(let capture):
                print("\(capture.kind), captured by \(capture.client) since \(capture.since)")
                wasCaptured = true
                try await type(app)
            case .unknown: print("unknown: to be treated as captured")
            case .notCaptured: print("not captured")
            }
            if wasCaptured, !state.isCaptured { break }
        }
        try await app.removeAllRegions()
        await monitor.stop()
    }

    /// Nothing of the screen is shown meanwhile.
    private static func type(_ app: CapturedApp) async throws {
        let receipt = try await app.raiseCurtain(reason: "a password is typed")
        for destination in receipt.destinations {
            print("\(destination.name) has what was shown up to \(destination.lastPTS ?? .zero)")
        }
        // The password is typed here.
        switch try await app.lowerCurtain() {
        case .lowered: print("viewers see the screen again")
        case .heldByOthers: print("others still hold the curtain up")
        }
    }
}
