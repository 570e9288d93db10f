import Foundation
import Endpoints
import MediaCore
import Testing

@testable import Configuration

@Suite struct ShippedConfigurationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let isRegenerating = ProcessInfo.processInfo.environment["REGENERATE"] == "1"

    /// The file, or what it should be, written there first when REGENERATE=1 asks for it.
    private static func golden(_ path: String, _ expected: (String) -> String) throws -> (
        file: String, expected: String
    ) {
        let url = root.appending(path: path)
        let file = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        let text = expected(file)
        if isRegenerating {
            try text.write(to: url, atomically: true, encoding: .utf8)
            return (text, text)
        }
        return (file, text)
    }

    @Test func theShippedFileIsTheTable() throws {
        let (file, expected) = try Self.golden("Config/upcastd.yaml") { _ in ConfigurationReference.yaml }
        #expect(file == expected, "run REGENERATE=1 swift test --filter ShippedConfigurationTests")
    }

    @Test func theDocsHaveTheTable() throws {
        let marker = "<!-- the table below is made from Sources/Configuration/Table/ConfigurationTable.swift -->\n"
        let (file, expected) = try Self.golden("docs/configuration.md") { file in
            (file.components(separatedBy: marker).first ?? "") + marker + ConfigurationReference.markdown
        }
        #expect(file == expected, "run REGENERATE=1 swift test --filter ShippedConfigurationTests")
    }

    @Test func theAPIHasTheTable() throws {
        let (file, expected) = try Self.golden("docs/openapi.json") { ConfigurationSchemas.inserted(into: $0) }
        #expect(file == expected, "run REGENERATE=1 swift test --filter ShippedConfigurationTests")
        for (name, _) in ConfigurationSchemas.all { #expect(file.contains("      \"\(name)\": {\n")) }
    }

    /// Lines that name the kinds of destinations.
    @Test(arguments: [
        (
            "README.md", "| destinations | ",
            "none; up to \(Configuration.maxDestinations) \(DestinationURL.kindsInWords): \(DestinationURL.forms) |"
        ),
        (
            "docs/man/upcastd.8", "It publishes the broadcast to its destinations: ",
            "\(DestinationURL.kindsInWords)."
        ),
    ])
    func aLineNamesTheDestinations(path: String, start: String, end: String) throws {
        let (file, expected) = try Self.golden(path) { file in
            file.components(separatedBy: "\n").map { $0.hasPrefix(start) ? start + end : $0 }.joined(separator: "\n")
        }
        #expect(file == expected, "run REGENERATE=1 swift test --filter ShippedConfigurationTests")
        #expect(file.contains("\n\(start)"), "the line is not there")
    }

    @Test func theShippedFileIsTheBuiltInDefaults() throws {
        let path = Self.root.appending(path: "Config/upcastd.yaml").path
        #expect(try Configuration.load(path: path, environment: [:]) == Configuration())
    }

    /// What stands in comments in place of an empty list.
    private static func example(_ section: String) throws -> String {
        let file = try String(contentsOf: root.appending(path: "Config/upcastd.yaml"), encoding: .utf8)
        let lines = file.components(separatedBy: "\n").drop { $0 != "# \(section):" }.prefix { $0.hasPrefix("# ") }
        return lines.map { $0.dropFirst(2) }.joined(separator: "\n")
    }

    @Test func theExampleWebhookIsTheBuiltInDefault() throws {
        var expected = Configuration()
        expected.webhooks = [WebhookConfiguration()]
        expected.webhooks[0].url = try WebhookURL("https://example.org/upcast")
        expected.webhooks[0].secretFile = "/etc/upcast/webhook.secret"
        let example = try Self.example("webhooks")
        #expect(try Configuration.load(text: Array(example.utf8), path: "example", environment: [:]) == expected)
    }

    @Test func theExampleDestinationIsTheBuiltInDefault() throws {
        let example = try Self.example("destinations")
        var expected = Configuration()
        expected.destinations = [DestinationConfiguration()]
        expected.destinations[0].url = try DestinationURL("rtmp://localhost/live/test")
        #expect(try Configuration.load(text: Array(example.utf8), path: "example", environment: [:]) == expected)
    }

    /// Every key stands in the shipped file with its variable above it, whoever wrote that file.
    @Test(.disabled(if: isRegenerating, "other tests write the files"))
    func everyKeyIsExplained() throws {
        let file = try String(contentsOf: Self.root.appending(path: "Config/upcastd.yaml"), encoding: .utf8)
        let docs = try String(contentsOf: Self.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let names =
            ConfigurationTable.keys.map { ($0.name, $0.environmentName()) }
            + ConfigurationTable.destinationKeys.map { ($0.name, $0.environmentName(index: 0)) }
            + ConfigurationTable.webhookKeys.map { ($0.name, $0.environmentName(index: 0)) }
        for (name, variable) in names {
            #expect(file.contains(" \(name): ") && file.contains("# \(variable)\n"), "\(name) is missing in the file")
            #expect(docs.contains("`\(variable)`"), "\(name) is missing in the docs")
        }
        #expect(Set(names.map(\.1)).count == names.count, "two keys share a variable")
    }
}
