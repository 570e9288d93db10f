/// A value that has named fields in JSON. It lists them once, for writing and for reading.
package protocol JSONRecord: Equatable, Sendable {
    init()
    /// Names every field in the order in which it is written.
    mutating func visit(_ fields: inout JSONFields)
}

/// What visits a record's fields: writing collects them, reading replaces those that are there and of the right type.
///
/// Reading is forgiving, so that a tool and a daemon of different versions understand each other: an unknown field is
/// ignored, a missing one keeps its default. Whoever has to be strict looks at `JSONFindings`.
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
    ///   - expected: what the value is to be, for people.
    ///   - mayLack: nothing is wrong where it is missing.
    ///   - write: nil where it is left out.
    ///   - read: false where it is not as expected; then nothing has changed.
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

    /// Null is not nil here: a request that says null may mean something else than one that says nothing.
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

    /// A text that this version does not know leaves the value alone.
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

    /// The same as members, for an object that has others as well.
    package var members: [JSONValue.Member] {
        if case .object(let members) = json { members } else { [] }
    }

    /// Fields that are missing or of another type keep their defaults.
    package init(json: JSONValue) {
        var findings = JSONFindings()
        self.init(json: json, &findings)
    }

    /// The same, and says what was not as it is to be.
    package init(json: JSONValue, _ findings: inout JSONFindings) {
        self.init()
        var fields = JSONFields(source: json)
        visit(&fields)
        findings = fields.findings
        guard case .object(let members) = json else { return }
        findings.unknown = members.map(\.name).filter { !findings.known.contains($0) }
    }
}

/// How a JSON object differs from the record that it was read as. Records within it are not looked at.
package struct JSONFindings: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        /// What the value is to be, for people.
        package var expected: String
    }

    /// The record's fields.
    package fileprivate(set) var known: [String] = []
    /// Members that the record does not have.
    package fileprivate(set) var unknown: [String] = []
    package fileprivate(set) var missing: [Field] = []
    package fileprivate(set) var mistyped: [Field] = []

    package init() {}

    /// Every field of the record was there, and as expected; nothing is said about other members.
    package var isComplete: Bool { missing.isEmpty && mistyped.isEmpty }

    /// That field was there, and as expected.
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
    /// Null is nil.
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

/// A time of one destination's, in milliseconds; nil for none.
package struct DestinationTime: Equatable, Sendable {
    package var destination: String
    package var milliseconds: Int?

    package init(_ destination: String, _ milliseconds: Int?) {
        (self.destination, self.milliseconds) = (destination, milliseconds)
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
