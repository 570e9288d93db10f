internal import CGnuTLS
internal import Glibc
internal import LinuxSystem

/// The CAs that servers are verified against, loaded once and shared by every session (the system's cost about 3.7 MB).
@safe final class TLSCredentials: @unchecked Sendable /* GnuTLS only reads credentials once they are set up */ {
    let raw: gnutls_certificate_credentials_t

    private static let loaded = Monitor<[String: TLSCredentials]>([:])

    /// The credentials for a CA file (PEM), or for the system's CAs where it is nil; kept for the life of the process.
    static func shared(caFile: String?) throws(PublishError) -> TLSCredentials {
        // A NUL cannot be in a path, so the system's entry collides with none.
        let name = caFile ?? "\0"
        return try loaded.withLock { cache throws(PublishError) in
            if let known = cache[name] { return known }
            let credentials = try TLSCredentials(caFile: caFile)
            cache[name] = credentials
            return credentials
        }
    }

    private init(caFile: String?) throws(PublishError) {
        var allocated: gnutls_certificate_credentials_t?
        guard unsafe gnutls_certificate_allocate_credentials(&allocated) == GNUTLS_E_SUCCESS, let raw = unsafe allocated
        else { throw PublishError(.system, "no memory for TLS credentials") }
        let count =
            if let caFile {
                unsafe gnutls_certificate_set_x509_trust_file(raw, caFile, GNUTLS_X509_FMT_PEM)
            } else {
                unsafe gnutls_certificate_set_x509_system_trust(raw)
            }
        guard count > 0 else {
            unsafe gnutls_certificate_free_credentials(raw)
            let reason = count == 0 ? "it holds no certificates" : unsafe String(cString: gnutls_strerror(count))
            throw PublishError(
                .certificate,
                caFile.map { "cannot read the CA file \($0): \(reason)" }
                    ?? "the system has no CA certificates to verify servers against: install them or name a CA file")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe gnutls_certificate_free_credentials(raw) }
}
