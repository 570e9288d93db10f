/// The body of every answer that is not a success: `{"error":{"code":"...","message":"..."}}`.
package struct ErrorReport: JSONRecord {
    /// For programs; snake_case, stable.
    package var code = ""
    /// For people; one sentence.
    package var message = ""

    package init() {}

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    package mutating func visit(_ fields: inout JSONFields) {
        var body = ErrorBody(code: code, message: message)
        fields("error", &body)
        (code, message) = (body.code, body.message)
    }
}

private struct ErrorBody: JSONRecord {
    var code = ""
    var message = ""

    init() {}

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    mutating func visit(_ fields: inout JSONFields) {
        fields("code", &code)
        fields("message", &message)
    }
}
