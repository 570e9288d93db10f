import Foundation
import Testing

/// Promise: a log line's message is the same each time; what differs is in its fields.
@Suite struct LogMessageTests {
    /// Where events become log lines.
    private static let home = "Pipeline/Reporting/DaemonEvent+Logging.swift"

    /// Every call of a logger's in the sources, with what stands between its parentheses.
    private func calls() throws -> [(file: String, level: String, arguments: String)] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardizedFileURL
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let pattern = /logger\s*\.\s*(trace|debug|info|notice|warning|error|critical|log)\s*\((?:[^()]|\([^()]*\))*/
        return try files.flatMap { file in
            try String(contentsOf: sources.appending(path: file), encoding: .utf8).matches(of: pattern).map {
                (file, String($0.output.1), String($0.output.0))
            }
        }
    }

    @Test func whatOperatorsSeeIsAnEvent() throws {
        let calls = try calls()
        #expect(!calls.isEmpty, "nothing was found: the test is blind")
        for call in calls where call.file != Self.home {
            #expect(["trace", "debug"].contains(call.level), "\(call): make it a DaemonEvent")
        }
    }

    @Test func messagesAreConstant() throws {
        for call in try calls() where call.file != Self.home {
            let isConstant = call.arguments.contains(/\(\s*"[^"\\]*"(,|$)/)
            #expect(isConstant, "\(call): what differs belongs into a field")
        }
    }

    /// The place that the others are sent to is there, and takes its messages from events.
    @Test func eventsAreLoggedInOnePlace() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/\(Self.home)")
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(text.contains("log(level: level, Message(stringLiteral: report.message), metadata: report.metadata)"))
        #expect(text.components(separatedBy: "log(").count == 2)
    }
}
