internal import Wording

/// A JSON document (RFC 8259) as a value; objects keep the order of their members.
///
/// This is written by hand because JSONEncoder needs FoundationEssentials, which costs the daemon 3.8 MiB of resident
/// memory (docs/dependencies.md has the measurement).
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    /// Infinities and NaN do not exist in JSON, and are written as null.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The first member with that name; nil when there is none, or when this is not an object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// UTF-8 text without line breaks, or with one member a line and two spaces an indentation.
    package func serialized(pretty: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2048)
        write(to: &bytes, indent: pretty ? 0 : nil)
        return bytes
    }

    private func write(to bytes: inout [UInt8], indent: Int?) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += value.description.utf8
        case .number(let value): bytes += (value.isFinite ? value.description : "null").utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let items):
            Self.write(items, between: ("[", "]"), to: &bytes, indent: indent) { item, bytes, indent in
                item.write(to: &bytes, indent: indent)
            }
        case .object(let members):
            Self.write(members, between: ("{", "}"), to: &bytes, indent: indent) { member, bytes, indent in
                Self.write(member.name, to: &bytes)
                bytes += (indent == nil ? ":" : ": ").utf8
                member.value.write(to: &bytes, indent: indent)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between brackets: (String, String), to bytes: inout [UInt8], indent: Int?,
        _ body: (Item, inout [UInt8], Int?) -> Void
    ) {
        func newLine(_ indent: Int?) {
            guard let indent else { return }
            bytes.append(UInt8(ascii: "\n"))
            bytes += repeatElement(UInt8(ascii: " "), count: indent)
        }
        bytes += brackets.0.utf8
        let inner = indent.map { $0 + 2 }
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            newLine(inner)
            body(item, &bytes, inner)
        }
        if !items.isEmpty { newLine(indent) }
        bytes += brackets.1.utf8
    }

    /// Escapes the characters that RFC 8259, section 7 requires, and those that control a terminal or are invisible,
    /// because users may print a document to a terminal.
    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\u{8}": bytes += "\\b".utf8
            case "\t": bytes += "\\t".utf8
            case "\n": bytes += "\\n".utf8
            case "\u{c}": bytes += "\\f".utf8
            case "\r": bytes += "\\r".utf8
            case _ where scalar.isControlOrFormat: bytes += scalar.escapedForJSON.utf8
            default: bytes += UTF8.encode(scalar)!
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value for people: a text unchanged, a list separated by commas, other values as JSON.
    package var description: String {
        switch self {
        case .string(let text): text
        case .array(let items): items.map(\.description).joined(separator: ", ")
        default: String(decoding: serialized(), as: UTF8.self)
        }
    }
}
