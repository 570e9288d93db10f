/// A value that has named fields in JSON. It lists them once, for writing and for reading.
package protocol JSONRecord: Equatable, Sendable {
    init()
    /// Names every field in the order in which it is written.
    mutating func visit(_ fields: inout JSONFields)
}

/// What visits a record's fields: writing collects them, reading replaces those that are there and of the right type.
///
/// Reading is forgiving, so that a tool and a daemon of different versions understand each other: an unknown field is
/// ignored, a missing one keeps its default.
package struct JSONFields {
    private var members: [JSONValue.Member] = []
    /// nil while writing.
    private let source: JSONValue?

    fileprivate init(source: JSONValue?) { self.source = source }

    fileprivate static func write(_ record: some JSONRecord) -> JSONValue {
        var (copy, fields) = (record, JSONFields(source: nil))
        copy.visit(&fields)
        return .object(fields.members)
    }

    private mutating func field(_ name: String, write: () -> JSONValue, read: (JSONValue) -> Void) {
        guard let source else { return members.append(JSONValue.Member(name, write())) }
        if let value = source[name] { read(value) }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Int) {
        field(name, write: { .integer(value) }, read: { if case .integer(let new) = $0 { value = new } })
    }

    /// Written as null when nil.
    package mutating func callAsFunction(_ name: String, _ value: inout Int?) {
        field(
            name, write: { value.map { .integer($0) } ?? .null },
            read: { if case .integer(let new) = $0 { value = new } }
        )
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Bool) {
        field(name, write: { .bool(value) }, read: { if case .bool(let new) = $0 { value = new } })
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Double) {
        field(name, write: { .number(value) }) {
            switch $0 {
            case .number(let new): value = new
            case .integer(let new): value = Double(new)
            default: break
            }
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout String) {
        field(name, write: { .string(value) }, read: { if case .string(let new) = $0 { value = new } })
    }

    /// Written as null when nil.
    package mutating func callAsFunction(_ name: String, _ value: inout String?) {
        field(
            name, write: { value.map { .string($0) } ?? .null }, read: { if case .string(let new) = $0 { value = new } }
        )
    }

    package mutating func callAsFunction(_ name: String, _ value: inout [String]) {
        field(name, write: { .array(value.map { .string($0) }) }) {
            guard case .array(let items) = $0 else { return }
            value = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
    }

    /// A text that this version does not know leaves the value alone.
    package mutating func callAsFunction<Choice: RawRepresentable<String>>(_ name: String, _ value: inout Choice) {
        field(name, write: { .string(value.rawValue) }) {
            if case .string(let text) = $0, let new = Choice(rawValue: text) { value = new }
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout some JSONRecord) {
        field(name, write: { Self.write(value) }, read: { value = type(of: value).init(json: $0) })
    }

    /// Written as null when nil.
    package mutating func callAsFunction<Record: JSONRecord>(_ name: String, _ value: inout Record?) {
        field(name, write: { value.map { Self.write($0) } ?? .null }) {
            if case .object = $0 { value = Record(json: $0) }
        }
    }

    package mutating func callAsFunction<Record: JSONRecord>(_ name: String, _ value: inout [Record]) {
        field(name, write: { .array(value.map { Self.write($0) }) }) {
            if case .array(let items) = $0 { value = items.map { Record(json: $0) } }
        }
    }

    /// An object of numbers, in order.
    package mutating func callAsFunction(_ name: String, _ value: inout [Counter]) {
        field(name, write: { .object(value.map { JSONValue.Member($0.name, .integer($0.value)) }) }) {
            guard case .object(let members) = $0 else { return }
            value = members.compactMap {
                if case .integer(let number) = $0.value { Counter($0.name, number) } else { nil }
            }
        }
    }
}

extension JSONRecord {
    package var json: JSONValue { JSONFields.write(self) }

    /// Fields that are missing or of another type keep their defaults.
    package init(json: JSONValue) {
        self.init()
        var fields = JSONFields(source: json)
        visit(&fields)
    }
}

/// A number with a name that may differ from one daemon to the next, such as a cause of drops.
package struct Counter: Equatable, Sendable {
    package var name: String
    package var value: Int

    package init(_ name: String, _ value: Int) {
        self.name = name
        self.value = value
    }
}
