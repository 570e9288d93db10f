package import ControlProtocol

/// A request as a route sees it: whole, within the limits.
package struct ControlRequest: Equatable, Sendable {
    /// `GET`, `POST`, ...; HEAD comes as GET, and its answer loses its body on the way out.
    package var method: String
    /// The target up to the question mark, not decoded.
    package var path: String
    /// What follows the question mark, or nil.
    package var query: String?
    package var body: [UInt8]

    package init(method: String, target: String, body: [UInt8] = []) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count == 2 ? String(parts[1]) : nil
        self.body = body
    }
}

/// An answer, whole.
package struct ControlResponse: Equatable, Sendable {
    package var status: Int
    package var contentType = "application/json"
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]

    package init(status: Int, json: JSONValue) {
        self.status = status
        body = json.serialized() + [UInt8(ascii: "\n")]
    }

    /// 200 with a record as JSON.
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
