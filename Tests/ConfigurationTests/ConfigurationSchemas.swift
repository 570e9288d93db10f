import Foundation
import ControlProtocol
import Endpoints

@testable import Configuration

/// The schemas of docs/openapi.json that follow from the table of keys and from the kinds of destinations.
enum ConfigurationSchemas {
    static var all: [(name: String, schema: JSONValue)] {
        let hidden = "Names of environment variables are shown as ***, and secrets are left out."
        return [
            ("Configuration", configuration),
            (
                "DestinationKind",
                .object([
                    .init("type", .string("string")),
                    .init("description", .string("A server that viewers can watch, or a recording (file).")),
                    .init("enum", .array(DestinationURL.kinds.map { .string($0.facts.kind) })),
                ])
            ),
            (
                "DestinationConfiguration",
                object("A destination, as in the configuration file. \(hidden)", ConfigurationTable.destinationKeys)
            ),
            (
                "WebhookConfiguration",
                object("A webhook, as in the configuration file. \(hidden)", ConfigurationTable.webhookKeys)
            ),
        ]
    }

    /// A document with these schemas in place of those of the same names.
    static func inserted(into document: String) -> String {
        var lines = document.components(separatedBy: "\n")
        for (name, schema) in all {
            guard let start = lines.firstIndex(of: "      \"\(name)\": {"),
                let end = lines[start...].firstIndex(where: { $0.hasPrefix("      }") })
            else { continue }
            let text = String(decoding: schema.serialized(pretty: true), as: UTF8.self)
            var new = text.components(separatedBy: "\n").map { "      \($0)" }
            new[0] = lines[start]
            new[new.count - 1] = lines[end]
            lines.replaceSubrange(start...end, with: new)
        }
        return lines.joined(separator: "\n")
    }

    private static var configuration: JSONValue {
        let sections = ConfigurationTable.sections.map { section -> JSONValue.Member in
            switch section.name {
            case "destinations":
                list(section, of: "DestinationConfiguration", atMost: Configuration.maxDestinations)
            case "webhooks": list(section, of: "WebhookConfiguration", atMost: Configuration.maxWebhooks)
            default:
                .init(
                    section.name,
                    object(section.summary, ConfigurationTable.keys.filter { $0.section == section.name }))
            }
        }
        return object("Every key as the file would have it.", sections)
    }

    private static func list(
        _ section: (name: String, summary: String), of schema: String, atMost count: Int
    ) -> JSONValue.Member {
        .init(
            section.name,
            .object([
                .init("type", .string("array")), .init("description", .string(section.summary)),
                .init("maxItems", .integer(count)),
                .init("items", .object([.init("$ref", .string("#/components/schemas/\(schema)"))])),
            ]))
    }

    private static func object<Root>(_ description: String, _ keys: [ConfigurationKey<Root>]) -> JSONValue {
        object(
            description,
            keys.map { key in
                let unit = key.unit.isEmpty ? "" : " Unit: \(key.unit)."
                return .init(key.name, value(key.schema, "\(key.summary)\(unit)", key.allowed))
            })
    }

    private static func object(_ description: String, _ properties: [JSONValue.Member]) -> JSONValue {
        .object([
            .init("type", .string("object")), .init("description", .string(description)),
            .init("required", .array(properties.map { .string($0.name) })), .init("properties", .object(properties)),
        ])
    }

    /// - Parameter allowed: the values in words, for those that a schema cannot express.
    private static func value(_ schema: ValueSchema, _ summary: String, _ allowed: String) -> JSONValue {
        var description = summary
        let (type, rules): (JSONValue, [JSONValue.Member]) =
            switch schema {
            case .text: (.string("string"), [])
            case .boolean: (.string("boolean"), [])
            case .names(let names): (.string("string"), [.init("enum", .array(names.map { .string($0) }))])
            case .choice(let values): (.string("integer"), [.init("enum", .array(values.map { .integer($0) }))])
            case .integer(let range, let isEven):
                (
                    .string("integer"),
                    [.init("minimum", .integer(range.lowerBound)), .init("maximum", .integer(range.upperBound))]
                        + (isEven ? [.init("multipleOf", .integer(2))] : [])
                )
            case .number(let range):
                (
                    .string("number"),
                    [.init("minimum", bound(range.lowerBound)), .init("maximum", bound(range.upperBound))]
                )
            case .bytes: (.array([.string("integer"), .string("string")]), [])
            case .options:
                (
                    .string("object"),
                    [
                        .init(
                            "additionalProperties",
                            .object([
                                .init("type", .array([.string("string"), .string("number"), .string("boolean")]))
                            ]))
                    ]
                )
            }
        switch schema {
        case .text, .bytes: description += " Values: \(allowed)."
        case .boolean, .options, .integer, .number, .choice, .names: break
        }
        return .object([.init("description", .string(description)), .init("type", type)] + rules)
    }

    private static func bound(_ value: Double) -> JSONValue {
        Int(exactly: value).map { .integer($0) } ?? .number(value)
    }
}
