import Foundation
import Testing
import UpcastPrivacy

/// The example of docs/privacy.md is code that compiles: it stands here, too.
@Suite struct DocumentationTests {
    private func example() throws {
        let app = CapturedApp(name: "kiosk", socket: "/run/upcast/control.sock")

        let monitor = try CaptureStateMonitor(app: "kiosk", socket: "/run/upcast/control.sock") { state in
            switch state {
            case .captured(let capture):
                print("captured: \(capture.kind), by \(capture.client)")
                try app.hide(.normalized(x: 0.1, y: 0.2, width: 0.3, height: 0.1), named: "account")
            case .notCaptured: print("not captured")
            case .unknown: print("unknown: to be treated as captured")
            }
        }

        try app.hide(.normalized(x: 0.1, y: 0.5, width: 0.3, height: 0.1), named: "password")
        let receipt = try app.raiseCurtain(reason: "a password is typed")
        for destination in receipt.destinations { print(destination.name, destination.lastPTS ?? .zero) }
        if let until = receipt.keptUntil { print("up to \(until) it still goes out") }
        if try app.lowerCurtain() == .heldByOthers { print("others still hold it up") }
        try app.removeAllRegions()
        monitor.stop()
    }

    @Test func theExampleIsThis() throws {
        let here = URL(filePath: #filePath)
        let page = here.deletingLastPathComponent().appending(path: "../../docs/privacy.md").standardizedFileURL
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## For the captured app\n").last)
        let code = try #require(section.components(separatedBy: "```swift\n").dropFirst().first)
        let lines = try #require(code.components(separatedBy: "\n```").first).components(separatedBy: "\n")
        let indented = lines.map { $0.isEmpty ? "" : "        " + $0 }.joined(separator: "\n")
        #expect(lines.count > 10)
        #expect(try String(contentsOf: here, encoding: .utf8).contains(indented))
    }
}
