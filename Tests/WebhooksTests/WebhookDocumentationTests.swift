import Foundation
import TestSupport
import Testing

@testable import Webhooks

/// docs/control.md has a delivery, and a program that checks one.
@Suite struct WebhookDocumentationTests {
    private static func section() throws -> String {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/control.md")
        let file = try String(contentsOf: url.standardized, encoding: .utf8)
        let after = try #require(file.components(separatedBy: "\n## Webhooks\n").last)
        return try #require(after.components(separatedBy: "\n## ").first)
    }

    /// The blocks of a language, as they stand there.
    private static func blocks(_ language: String) throws -> [String] {
        let parts = try section().components(separatedBy: "```")
        return parts.enumerated().compactMap { index, part in
            index % 2 == 1 && part.hasPrefix(language + "\n") ? String(part.dropFirst(language.count + 1)) : nil
        }
    }

    @Test func theProgramAcceptsTheDeliveryAndNoOther() throws {
        let program = try #require(try Self.blocks("python").first)
        let delivery = try #require(try Self.blocks("").first)
        let secret = try #require(try Self.section().firstMatch(of: /`(whsec_[A-Za-z0-9+\/=]{20,})`/)?.1)
        let lines = delivery.split(separator: "\n")
        let headers = lines.dropFirst().prefix { $0 != lines.last }.map { $0.split(separator: ": ", maxSplits: 1) }
        let dictionary = headers.map { "\"\($0[0])\": '\($0[1])'" }.joined(separator: ", ")
        let script = """
            \(program)
            headers, body = {\(dictionary)}, b'\(try #require(lines.last))'
            time.time = lambda: int(headers["webhook-timestamp"]) + 250
            print(is_from_upcast(headers, body, "\(secret)"), is_from_upcast(headers, body + b" ", "\(secret)"))
            print(is_from_upcast(headers, body, "\(secret.dropLast(4))AAAA"))
            time.time = lambda: int(headers["webhook-timestamp"]) + 350
            print(is_from_upcast(headers, body, "\(secret)"))
            """
        let folder = try TemporaryDirectory("webhook-docs")
        let said = try ChildProcess.run("python3", [try folder.write(script, to: "check.py")])
        #expect(said == "True False\nFalse\nFalse\n")
    }

    /// The bounds of the text are those of the code.
    @Test func theBoundsAreRight() throws {
        let text = try Self.section()
        #expect(text.contains("\(WebhookQueue.mostDeliveries) deliveries (\(WebhookQueue.mostBytes / 1024) KiB)"))
        #expect(WebhookMessage.maximumBytes + 40 < 3 * 1024)
    }
}
