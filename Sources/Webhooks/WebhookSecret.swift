package import Endpoints

/// The key that deliveries are signed with.
package struct WebhookSecret: Sendable {
    /// The least length of a key, in bytes (Standard Webhooks 1.0).
    package static let leastBytes = 24

    let key: [UInt8]

    /// Reads `whsec_` and the key in base64, as Standard Webhooks writes it, or any other text as the key itself.
    package init(_ text: Secret) throws(InvalidWebhookSecret) {
        let prefix = "whsec_"
        if text.revealed.hasPrefix(prefix) {
            guard let decoded = Base64.decode(text.revealed.dropFirst(prefix.count)) else { throw .notBase64 }
            key = decoded
        } else {
            key = Array(text.revealed.utf8)
        }
        guard key.count >= Self.leastBytes else { throw .tooShort }
    }

    init(key: [UInt8]) { self.key = key }
}

/// Why a text is not the secret of a webhook. It contains no part of that text.
package enum InvalidWebhookSecret: Error, Equatable, Sendable, CustomStringConvertible {
    case notBase64
    case tooShort

    package var description: String {
        switch self {
        case .notBase64: "the secret has the prefix whsec_, and no base64 behind it"
        case .tooShort:
            "the secret has fewer than \(WebhookSecret.leastBytes) bytes; "
                + "use the output of: echo whsec_$(openssl rand -base64 32)"
        }
    }
}
