package import ControlProtocol

/// A complete request, within the limits.
package struct ControlRequest: Equatable, Sendable {
    /// `GET`, `POST`, ... HEAD is passed as GET, and its answer is sent without a body.
    package var method: String
    /// The target up to the question mark, not decoded.
    package var path: String
    /// The part after the question mark, or nil.
    package var query: String?
    package var body: [UInt8]
    /// Header fields; names are compared without case.
    package var headers: [(name: String, value: String)]
    package var peer = ControlPeer.operator

    package init(method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.headers = headers
        let parts = Self.origin(of: target).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count == 2 ? String(parts[1]) : nil
        self.body = body
    }

    /// Removes scheme and host from the absolute form of a target, which proxies receive (RFC 9112, 3.2.2).
    private static func origin(of target: String) -> Substring {
        let scheme = "http://"
        guard target.prefix(scheme.count).lowercased() == scheme else { return target[...] }
        let path = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        return path.isEmpty ? "/" : path
    }

    /// The first field with this name.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    package static func == (a: ControlRequest, b: ControlRequest) -> Bool {
        a.method == b.method && a.path == b.path && a.query == b.query && a.body == b.body
            && a.headers.elementsEqual(b.headers) { $0 == $1 }
    }

    /// The value of `name` in the query, percent-decoded (RFC 3986); nil if it is missing or not UTF-8.
    ///
    /// If an invalid value must be distinguished from a missing one, check `parameterNames` as well.
    package func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0] == name, parts.count == 2 else { continue }
            return Self.decoded(parts[1])
        }
        return nil
    }

    /// All names in the query, including those with invalid values.
    package var parameterNames: [Substring] {
        (query ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest.removeFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A complete answer.
package struct ControlResponse: Equatable, Sendable {
    package var status: Int
    package var contentType = "application/json"
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]

    package init(status: Int, json: JSONValue) {
        self.status = status
        body = json.serialized() + [UInt8(ascii: "\n")]
    }

    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Status 200 with a record as JSON.
    package static func success(_ record: some JSONRecord) -> ControlResponse {
        ControlResponse(status: 200, json: record.json)
    }

    /// An error with its code for programs and its sentence for people.
    package static func failure(_ status: Int, _ code: String, _ message: String) -> ControlResponse {
        ControlResponse(status: status, json: ErrorReport(code: code, message: message).json)
    }

    package static func == (a: ControlResponse, b: ControlResponse) -> Bool {
        a.status == b.status && a.contentType == b.contentType && a.body == b.body
            && a.headers.elementsEqual(b.headers) { $0 == $1 }
    }
}
