import Configuration
import ControlProtocol
import Foundation
import Logging
import TestSupport
import Testing

@testable import upcastd

/// Promise: a line of the log is never longer than a pipe takes at once, and every line of a JSON log is JSON.
@Suite struct LogLinesTests {
    private static let long = String(repeating: "é\"", count: 5_000)
    private static let list = JSONValue.array((0..<500).map { .string("key \($0)") })
    private static let metadata: [Logger.Metadata] = [
        [:], ["why": .string(long)], ["keys": .stringConvertible(list)],
        ["why": .string(long), "keys": .stringConvertible(list), "count": .stringConvertible(JSONValue.integer(7))],
        Dictionary(uniqueKeysWithValues: (0..<20).map { ("field_\($0)", .string(long)) }),
    ]

    @Test(arguments: metadata, [false, true]) func longLinesOfJSON(metadata: Logger.Metadata, isJournal: Bool) throws {
        let lines = LogLines(format: .json, isJournal: isJournal, longest: 3_840)
        for message in ["it is so", Self.long] {
            let line = lines.line(.warning, message, metadata)
            #expect(line.utf8.count <= 3_840 && line.hasSuffix("}\n"))
            let object = try JSONSerialization.jsonObject(with: Data(line.drop { $0 != "{" }.utf8))
            let fields = try #require(object as? [String: Any])
            #expect(Set(fields.keys) == Set(metadata.keys).union(["level", "message"] + (isJournal ? [] : ["time"])))
            #expect(fields["level"] as? String == "warning")
            let said = try #require(fields["message"] as? String)
            #expect(said.hasPrefix(message == "it is so" ? message : "é\"é"))
            if metadata["count"] != nil { #expect(fields["count"] as? Int == 7) }
            if metadata["keys"] != nil { #expect((fields["keys"] as? [String])?.last == "...") }
        }
    }

    /// A line that fits is not touched, and of one that does not, at least half is left.
    @Test func whatIsLeft() {
        func line(_ length: Int) -> String {
            LogLines(format: .json, isJournal: true, longest: 1_000).line(
                .info, "m", ["why": .string(String(repeating: "a", count: length))])
        }
        let frame = line(0).utf8.count
        #expect(line(1_000 - frame).utf8.count == 1_000 && !line(1_000 - frame).contains("..."))
        #expect(line(1_001 - frame).utf8.count > 500 && line(1_001 - frame).hasSuffix("a...\"}\n"))
    }

    /// Even of a line with more fields than fit, programs learn when it was, how bad it is and what has happened.
    @Test func moreFieldsThanFit() throws {
        var metadata: Logger.Metadata = ["event": "broadcast_ended"]
        for number in 0..<300 { metadata["a_field_with_a_name_\(number)"] = "x" }
        let line = LogLines(format: .json, longest: 3_840).line(.warning, Self.long, metadata)
        #expect(line.utf8.count <= 3_840)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(Set(try #require(object).keys) == ["time", "level", "event", "message"])
        #expect(object?["event"] as? String == "broadcast_ended")
    }

    @Test(arguments: [false, true]) func longLinesOfText(isJournal: Bool) {
        let lines = LogLines(format: .text, isJournal: isJournal, longest: 3_840)
        let line = lines.line(.warning, "it is so", ["why": .string(Self.long)])
        #expect((3_830...3_840).contains(line.utf8.count) && line.hasSuffix("...\n"))
        #expect(line.contains("it is so why=\"é\\\"é"))
        #expect(LogLines(format: .text).line(.info, "m", ["why": .string(Self.long)]).utf8.count > 15_000)
    }

    @Test func lostLines() throws {
        let text = LogLines(format: .text).lost(3)
        #expect(text.hasSuffix(" warning log lines were lost because standard error was blocked count=3\n"))
        let object = try JSONSerialization.jsonObject(with: Data(LogLines(format: .json).lost(3).utf8))
        #expect((object as? [String: Any])?["count"] as? Int == 3)
    }

    /// The report of lost lines and the line after it leave with one `write`.
    @Test func aPipeTakesBoth() {
        for format in [LogLines(format: .text), LogLines(format: .json), LogLines(format: .json, isJournal: true)] {
            #expect(format.lost(.max).utf8.count + StandardErrorPipe.longestLine <= 4096)
        }
    }
}
