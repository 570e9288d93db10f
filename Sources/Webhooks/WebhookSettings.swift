package import Endpoints
package import MediaCore

/// One hook.
package struct WebhookSettings: Sendable {
    /// Name in the status, metrics and the log.
    package var name: String
    package var url: WebhookURL
    /// Names of the events that are delivered.
    package var events: Set<String>
    /// Trusted certificates (PEM) in place of the system's.
    package var caFile: String?
    /// For one attempt: resolving, connecting, TLS, request and answer.
    package var timeout: MediaTime
    package var schedule: WebhookSchedule
    package var policy: AddressPolicy
    /// Reads the secret before each attempt, so that the next one uses a replaced secret. It may block on a disk.
    package var readSecret: @Sendable () throws(WebhookSecretError) -> WebhookSecret

    package init(
        name: String, url: WebhookURL, events: Set<String>, caFile: String? = nil, timeout: MediaTime,
        schedule: WebhookSchedule, policy: AddressPolicy,
        readSecret: @escaping @Sendable () throws(WebhookSecretError) -> WebhookSecret
    ) {
        (self.name, self.url, self.events, self.caFile) = (name, url, events, caFile)
        (self.timeout, self.schedule, self.policy, self.readSecret) = (timeout, schedule, policy, readSecret)
    }
}

/// Why the secret could not be read, as a sentence that names its place.
package struct WebhookSecretError: Error, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
