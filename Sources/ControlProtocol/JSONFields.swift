/// A value that has named fields in JSON. It lists them once, both for writing and for reading.
package protocol JSONRecord: Equatable, Sendable {
    init()
    /// Names every field in the order in which it is written.
    mutating func visit(_ fields: inout JSONFields)
}

/// Visits the fields of a record. Writing collects them. Reading replaces those that are present and of the right type.
///
/// Reading is lenient, so that tools and daemons of different versions understand each other: an unknown field is
/// ignored, and a missing one keeps its default. A strict reader checks `JSONFindings`.
package struct JSONFields {
    private var members: [JSONValue.Member] = []
    /// nil while writing.
    private let source: JSONValue?
    fileprivate private(set) var findings = JSONFindings()

    fileprivate init(source: JSONValue?) { self.source = source }

    fileprivate static func write(_ record: some JSONRecord) -> JSONValue {
        var (copy, fields) = (record, JSONFields(source: nil))
        copy.visit(&fields)
        return .object(fields.members)
    }

    /// - Parameters:
    ///   - expected: the expected type, for people.
    ///   - mayLack: whether the field may be missing.
    ///   - write: returns nil to leave the field out.
    ///   - read: returns false, without a change, if the value is not as expected.
    private mutating func field(
        _ name: String, _ expected: @autoclosure () -> String, mayLack: Bool = false, write: () -> JSONValue?,
        read: (JSONValue) -> Bool
    ) {
        guard let source else {
            if let value = write() { members.append(JSONValue.Member(name, value)) }
            return
        }
        findings.known.append(name)
        guard let value = source[name] else {
            if !mayLack { findings.missing.append(JSONFindings.Field(name: name, expected: expected())) }
            return
        }
        if !read(value) { findings.mistyped.append(JSONFindings.Field(name: name, expected: expected())) }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Int) {
        field(name, "an integer", write: { .integer(value) }) { value.take($0) }
    }

    /// Written as null when nil.
    package mutating func callAsFunction(_ name: String, _ value: inout Int?) {
        field(name, "an integer, or null", mayLack: true, write: { value.map { .integer($0) } ?? .null }) {
            value.take($0)
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Bool) {
        field(name, "true or false", write: { .bool(value) }) { value.take($0) }
    }

    /// Written as null when nil.
    package mutating func callAsFunction(_ name: String, _ value: inout Bool?) {
        field(name, "true, false or null", mayLack: true, write: { value.map { .bool($0) } ?? .null }) {
            value.take($0)
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout Double) {
        field(name, "a number", write: { .number(value) }) {
            switch $0 {
            case .number(let new): value = new
            case .integer(let new): value = Double(new)
            default: return false
            }
            return true
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout String) {
        field(name, "a text", write: { .string(value) }) { value.take($0) }
    }

    /// Written as null when nil.
    package mutating func callAsFunction(_ name: String, _ value: inout String?) {
        field(name, "a text, or null", mayLack: true, write: { value.map { .string($0) } ?? .null }) {
            value.take($0)
        }
    }

    // MARK: Left out when nil

    /// Null differs from nil here: in a request, null may have another meaning than a missing field.
    package mutating func callAsFunction(optional name: String, _ value: inout Int?) {
        field(name, "an integer", mayLack: true, write: { value.map { .integer($0) } }) {
            $0 != .null && value.take($0)
        }
    }

    package mutating func callAsFunction(optional name: String, _ value: inout String?) {
        field(name, "a text", mayLack: true, write: { value.map { .string($0) } }) {
            $0 != .null && value.take($0)
        }
    }

    package mutating func callAsFunction<Choice: RawRepresentable<String> & CaseIterable>(
        optional name: String, _ value: inout Choice?
    ) {
        field(
            name, Choice.allCases.map(\.rawValue).joined(separator: " or "), mayLack: true,
            write: { value.map { .string($0.rawValue) } }
        ) {
            guard case .string(let text) = $0, let new = Choice(rawValue: text) else { return false }
            value = new
            return true
        }
    }

    /// Left out when false.
    package mutating func callAsFunction(flag name: String, _ value: inout Bool) {
        field(name, "true or false", mayLack: true, write: { value ? .bool(true) : nil }) { value.take($0) }
    }

    // MARK: Compound values

    package mutating func callAsFunction(_ name: String, _ value: inout [String]) {
        field(name, "a list of texts", write: { .array(value.map { .string($0) }) }) {
            guard case .array(let items) = $0 else { return false }
            value = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return true
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout [JSONValue.Member]) {
        field(name, "an object", write: { .object(value) }) {
            guard case .object(let members) = $0 else { return false }
            value = members
            return true
        }
    }

    /// If this version does not know the text, the value does not change.
    package mutating func callAsFunction<Choice: RawRepresentable<String>>(_ name: String, _ value: inout Choice) {
        field(name, "a text", write: { .string(value.rawValue) }) {
            guard case .string(let text) = $0, let new = Choice(rawValue: text) else { return false }
            value = new
            return true
        }
    }

    package mutating func callAsFunction(_ name: String, _ value: inout some JSONRecord) {
        field(name, "an object", write: { Self.write(value) }) {
            value = type(of: value).init(json: $0)
            return true
        }
    }

    /// Written as null when nil.
    package mutating func callAsFunction<Record: JSONRecord>(_ name: String, _ value: inout Record?) {
        field(name, "an object, or null", mayLack: true, write: { value.map { Self.write($0) } ?? .null }) {
            if case .object = $0 { value = Record(json: $0) }
            return true
        }
    }

    package mutating func callAsFunction<Record: JSONRecord>(_ name: String, _ value: inout [Record]) {
        field(name, "a list of objects", write: { .array(value.map { Self.write($0) }) }) {
            guard case .array(let items) = $0 else { return false }
            value = items.map { Record(json: $0) }
            return true
        }
    }

    /// An object of numbers or nulls, in order.
    package mutating func callAsFunction(_ name: String, _ value: inout [DestinationTime]) {
        field(
            name, "an object of integers",
            write: {
                .object(
                    value.map { .init($0.destination, $0.milliseconds.map { .integer($0) } ?? .null) })
            }
        ) {
            guard case .object(let members) = $0 else { return false }
            var times: [DestinationTime] = []
            for member in members {
                var time: Int?
                guard time.take(member.value) else { return false }
                times.append(DestinationTime(member.name, time))
            }
            value = times
            return true
        }
    }

    /// An object of numbers, in order.
    package mutating func callAsFunction(_ name: String, _ value: inout [Counter]) {
        field(
            name, "an object of integers",
            write: { .object(value.map { JSONValue.Member($0.name, .integer($0.value)) }) }
        ) {
            guard case .object(let members) = $0 else { return false }
            value = members.compactMap {
                if case .integer(let number) = $0.value { Counter($0.name, number) } else { nil }
            }
            return true
        }
    }
}

extension JSONRecord {
    package var json: JSONValue { JSONFields.write(self) }

    /// The fields as members, for an object that also has other members.
    package var members: [JSONValue.Member] {
        if case .object(let members) = json { members } else { [] }
    }

    /// Fields that are missing or of another type keep their defaults.
    package init(json: JSONValue) {
        var findings = JSONFindings()
        self.init(json: json, &findings)
    }

    /// Reads the fields, and reports which are missing, of another type or unknown.
    package init(json: JSONValue, _ findings: inout JSONFindings) {
        self.init()
        var fields = JSONFields(source: json)
        visit(&fields)
        findings = fields.findings
        guard case .object(let members) = json else { return }
        findings.unknown = members.map(\.name).filter { !findings.known.contains($0) }
    }
}

/// How a JSON object differs from the record that it was read as. Nested records are not checked.
package struct JSONFindings: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        /// The expected type, for people.
        package var expected: String
    }

    /// The record's fields.
    package fileprivate(set) var known: [String] = []
    /// Members that the record does not have.
    package fileprivate(set) var unknown: [String] = []
    package fileprivate(set) var missing: [Field] = []
    package fileprivate(set) var mistyped: [Field] = []

    package init() {}

    /// Whether every field of the record was present, and as expected. Other members do not matter.
    package var isComplete: Bool { missing.isEmpty && mistyped.isEmpty }

    /// Whether that field was present, and as expected.
    package func has(_ name: String) -> Bool { !(missing + mistyped).contains { $0.name == name } }
}

extension Int {
    fileprivate mutating func take(_ json: JSONValue) -> Bool {
        guard case .integer(let value) = json else { return false }
        self = value
        return true
    }
}

extension Bool {
    fileprivate mutating func take(_ json: JSONValue) -> Bool {
        guard case .bool(let value) = json else { return false }
        self = value
        return true
    }
}

extension String {
    fileprivate mutating func take(_ json: JSONValue) -> Bool {
        guard case .string(let value) = json else { return false }
        self = value
        return true
    }
}

extension Optional {
    /// Reads null as nil.
    fileprivate mutating func take(_ json: JSONValue) -> Bool {
        switch json {
        case .null: self = nil
        case .integer(let value as Wrapped): self = value
        case .bool(let value as Wrapped): self = value
        case .string(let value as Wrapped): self = value
        default: return false
        }
        return true
    }
}

/// A time of one destination, in milliseconds; nil for none.
package struct DestinationTime: Equatable, Sendable {
    package var destination: String
    package var milliseconds: Int?

    package init(_ destination: String, _ milliseconds: Int?) {
        (self.destination, self.milliseconds) = (destination, milliseconds)
    }
}

/// A number whose name may differ between daemons, such as a cause of drops.
package struct Counter: Equatable, Sendable {
    package var name: String
    package var value: Int

    package init(_ name: String, _ value: Int) {
        self.name = name
        self.value = value
    }
}
