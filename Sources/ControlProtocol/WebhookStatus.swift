/// One webhook. Counters count since the daemon started.
package struct WebhookStatus: JSONRecord {
    package var name = ""
    /// Scheme, host and port. The path may hold a token.
    package var url = ""
    package var delivered = 0
    /// Deliveries that were given up after the last attempt.
    package var failed = 0
    /// Deliveries that were dropped because the queue was full, or because the hook was removed.
    package var dropped = 0
    /// Deliveries that wait, and the one that is under way.
    package var queued = 0
    /// The error of the last failed attempt. It remains after a later success.
    package var lastError: String?
    package var lastErrorAgeMilliseconds: Int?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("name", &name)
        fields("url", &url)
        fields("delivered", &delivered)
        fields("failed", &failed)
        fields("dropped", &dropped)
        fields("queued", &queued)
        fields("last_error", &lastError)
        fields("last_error_age_ms", &lastErrorAgeMilliseconds)
    }
}
