import ControlProtocol
import Foundation
import TestSupport

/// docs/openapi.json.
struct OpenAPIDocument {
    struct Operation: Hashable {
        var method: String
        var path: String
    }

    let json: JSONValue
    var schema: JSONSchema { JSONSchema(document: json) }

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.json")
        json = try JSONParser.parse(Array(Data(contentsOf: file)))
    }

    var operations: [Operation: JSONValue] {
        var all: [Operation: JSONValue] = [:]
        for path in Self.members(json["paths"]) {
            for operation in Self.members(path.value) {
                all[Operation(method: operation.name.uppercased(), path: path.name)] = operation.value
            }
        }
        return all
    }

    /// What an answer has that is not described; empty where it is as the document says.
    func problems(of response: UnixHTTPClient.Response, to method: String, _ target: String) -> [String] {
        let operation = Operation(method: method, path: String(target.prefix { $0 != "?" }))
        guard let description = operations[operation] else { return ["\(method) \(target) is not described"] }
        guard let described = description["responses"]?["\(response.status)"] else {
            return ["\(method) \(target): an answer \(response.status) is not described: \(response.body)"]
        }
        return problems(of: response, described).map { "\(method) \(target): \($0)" }
    }

    /// The same for an answer of `components/responses`.
    func problems(of response: UnixHTTPClient.Response, component: String) -> [String] {
        problems(of: response, .object([.init("$ref", .string("#/components/responses/\(component)"))]))
    }

    private func problems(of response: UnixHTTPClient.Response, _ described: JSONValue) -> [String] {
        var described = described
        if case .string(let reference) = described["$ref"] {
            guard let target = schema.resolve(reference) else { return ["\(reference) is not there"] }
            described = target
        }
        guard let content = described["content"]?[response.mediaType] else {
            return ["\(response.mediaType) is not described"]
        }
        var problems = Self.members(described["headers"]).compactMap {
            response.headers[$0.name.lowercased()] == nil ? "the header \($0.name) is missing" : nil
        }
        if response.mediaType == "application/json" {
            guard let body = try? JSONParser.parse(response.bytes) else { return ["\(response.body) is no JSON"] }
            problems += schema.problems(of: body, content["schema"] ?? .null)
        }
        return problems
    }

    /// What is wrong with a request's body.
    func problems(ofBody body: String, to method: String, _ path: String) throws -> [String] {
        let content = operations[Operation(method: method, path: path)]?["requestBody"]?["content"]
        let described = content?["application/json"]?["schema"] ?? .null
        return schema.problems(of: try JSONParser.parse(Array(body.utf8)), described)
    }

    static func members(_ value: JSONValue?) -> [JSONValue.Member] {
        if case .object(let members) = value { members } else { [] }
    }

    /// Every `$ref`, at any depth.
    var references: Set<String> {
        func references(_ value: JSONValue) -> Set<String> {
            switch value {
            case .array(let items): return items.reduce(into: []) { $0.formUnion(references($1)) }
            case .object(let members):
                return members.reduce(into: []) { all, member in
                    if member.name == "$ref", case .string(let text) = member.value { all.insert(text) }
                    all.formUnion(references(member.value))
                }
            default: return []
            }
        }
        return references(json)
    }
}
