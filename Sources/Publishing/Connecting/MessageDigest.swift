internal import CGnuTLS

/// Digests of GnuTLS.
package enum MessageDigest {
    /// HMAC-SHA256 (RFC 2104).
    ///
    /// - Returns: 32 bytes; nil if this machine's GnuTLS refuses, such as a short key in FIPS mode.
    package static func hmacSHA256(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        let result = unsafe gnutls_hmac_fast(
            GNUTLS_MAC_SHA256, key, key.count, message, message.count, &digest)
        return result == GNUTLS_E_SUCCESS ? digest : nil
    }
}
