import ControlProtocol
import TestSupport

/// JSON Schema, as much of it as docs/openapi.json uses; a keyword that it does not know is an error, not a pass.
///
/// Stricter than the standard in one thing: an object whose members are listed has no others, even where the schema
/// leaves room for those of a later version. A test wants to know of what is not described.
struct JSONSchema {
    /// What `$ref` counts from.
    let document: JSONValue

    /// What is wrong, each with its place; empty where the value is as described.
    func problems(of value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
        guard case .object(let keywords) = schema else { return ["\(path): the schema is no object"] }
        if case .string(let reference) = schema["$ref"] {
            guard let target = resolve(reference) else { return ["\(path): \(reference) is not there"] }
            return problems(of: value, target, at: path)
        }
        return keywords.flatMap { check(value, $0.name, $0.value, schema, path) }
            + undescribed(value, schema).map { "\(path).\($0): is not described" }
    }

    /// `#/a/b`.
    func resolve(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(Optional(document)) { $0?[String($1)] }
    }

    private func check(
        _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ schema: JSONValue, _ path: String
    ) -> [String] {
        func unless(_ isRight: Bool, _ what: String) -> [String] { isRight ? [] : ["\(path): \(what): \(value)"] }
        switch (keyword, rule) {
        case ("description", _), ("format", _), ("contentMediaType", _): return []
        case ("type", .string(let name)): return unless(isOf(value, name), "is no \(name)")
        case ("type", .array(let names)):
            return unless(names.contains { if case .string(let name) = $0 { isOf(value, name) } else { false } },
                "is none of \(names)")
        case ("enum", .array(let values)): return unless(values.contains(value), "is none of \(values)")
        case ("required", .array(let names)):
            guard case .object = value else { return [] }
            return names.flatMap { name -> [String] in
                guard case .string(let name) = name else { return ["\(path): required is no list of names"] }
                return value[name] == nil ? ["\(path): \(name) is missing"] : []
            }
        case ("properties", .object(let members)):
            return members.flatMap { member in
                value[member.name].map { problems(of: $0, member.value, at: "\(path).\(member.name)") } ?? []
            }
        // False: `undescribed` says so.
        case ("additionalProperties", .bool): return []
        case ("additionalProperties", .object):
            guard case .object(let members) = value else { return [] }
            return members.filter { schema["properties"]?[$0.name] == nil }
                .flatMap { problems(of: $0.value, rule, at: "\(path).\($0.name)") }
        case ("items", _):
            guard case .array(let items) = value else { return [] }
            return items.enumerated().flatMap { problems(of: $1, rule, at: "\(path)[\($0)]") }
        case ("oneOf", .array(let schemas)):
            let fitting = schemas.filter { problems(of: value, $0, at: path).isEmpty }.count
            return unless(fitting == 1, "fits \(fitting) of \(schemas.count) schemas")
        case ("minimum", _):
            return unless(number(value).map { $0 >= number(rule) ?? .infinity } ?? true, "is too small")
        case ("maximum", _):
            return unless(number(value).map { $0 <= number(rule) ?? -.infinity } ?? true, "is too large")
        case ("multipleOf", .integer(let step)):
            guard case .integer(let number) = value else { return [] }
            return unless(number % step == 0, "is no multiple of \(step)")
        case ("maxItems", .integer(let most)):
            guard case .array(let items) = value else { return [] }
            return unless(items.count <= most, "has more than \(most) items")
        case ("maxProperties", .integer(let most)):
            guard case .object(let members) = value else { return [] }
            return unless(members.count <= most, "has more than \(most) members")
        case ("pattern", .string(let pattern)):
            guard case .string(let text) = value else { return [] }
            guard let expression = try? Regex(pattern) else { return ["\(path): \(pattern) is no pattern"] }
            return unless(text.firstMatch(of: expression) != nil, "does not match \(pattern)")
        default: return ["\(path): the schema's \(keyword) is not understood"]
        }
    }

    private func undescribed(_ value: JSONValue, _ schema: JSONValue) -> [String] {
        guard case .object(let members) = value, case .object = schema["properties"] else { return [] }
        if case .object = schema["additionalProperties"] { return [] }
        return members.map(\.name).filter { schema["properties"]?[$0] == nil }
    }

    private func isOf(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
            ("string", .string), ("array", .array), ("object", .object):
            true
        default: false
        }
    }

    private func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }
}
