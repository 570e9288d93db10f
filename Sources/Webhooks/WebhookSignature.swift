internal import Endpoints
internal import Publishing

/// The headers that prove who sent a delivery (Standard Webhooks 1.0). Pure.
enum WebhookSignature {
    /// - Parameters:
    ///   - id: the same for all attempts of a delivery.
    ///   - timestamp: Unix time of the attempt in seconds. Receivers refuse old ones.
    /// - Returns: nil if this machine's GnuTLS refuses HMAC-SHA256.
    static func headers(
        id: String, timestamp: Int, body: [UInt8], secret: WebhookSecret
    ) -> [(name: String, value: String)]? {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        guard let digest = MessageDigest.hmacSHA256(of: signed, key: secret.key) else { return nil }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
            ("webhook-signature", "v1,\(Base64.encode(digest))"),
        ]
    }
}
