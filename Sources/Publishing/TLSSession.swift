internal import CGnuTLS
internal import Glibc

/// A TLS client session on a connected descriptor: TLS 1.2 or 1.3, verified unless told otherwise.
///
/// One thread uses it; the descriptor must outlive it.
@safe final class TLSSession {
    let raw: gnutls_session_t
    private let credentials: TLSCredentials
    /// GnuTLS keeps the pointer to the name that it verifies.
    private let hostName: UnsafeMutablePointer<CChar>

    /// - Parameter verifies: false accepts any certificate, for anybody.
    init(descriptor: CInt, host: String, credentials: TLSCredentials, verifies: Bool) throws(PublishError) {
        var created: gnutls_session_t?
        let flags = UInt32(GNUTLS_CLIENT) | UInt32(GNUTLS_NONBLOCK) | UInt32(GNUTLS_NO_SIGNAL)
        guard unsafe gnutls_init(&created, flags) == GNUTLS_E_SUCCESS, let raw = unsafe created else {
            throw PublishError(.system, "no memory for a TLS session")
        }
        unsafe self.raw = raw
        self.credentials = credentials
        unsafe hostName = strdup(host)
        let isName = !host.contains(":") && !host.allSatisfy { $0.isNumber || $0 == "." }
        var result = unsafe gnutls_set_default_priority_append(raw, "-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", nil, 0)
        if result == 0 {
            let trusted = unsafe UnsafeMutableRawPointer(credentials.raw)
            result = unsafe gnutls_credentials_set(raw, GNUTLS_CRD_CERTIFICATE, trusted)
        }
        // Addresses have no place in SNI (RFC 6066, section 3).
        if result == 0, isName {
            result = unsafe gnutls_server_name_set(raw, GNUTLS_NAME_DNS, hostName, strlen(hostName))
        }
        guard result == 0 else {
            throw PublishError(.tls, "TLS cannot be set up: \(unsafe String(cString: gnutls_strerror(result)))")
        }
        if verifies { unsafe gnutls_session_set_verify_cert(raw, hostName, 0) }
        unsafe gnutls_transport_set_int2(raw, descriptor, descriptor)
    }

    deinit {
        unsafe gnutls_deinit(raw)
        unsafe free(hostName)
    }

    /// What a GnuTLS error means, for people; after a failed verification, what is wrong with the certificate.
    func error(_ code: CInt, host: String) -> PublishError {
        switch code {
        case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
            return PublishError(.certificate, "the server's certificate was refused: \(certificateFault(host))")
        case GNUTLS_E_FATAL_ALERT_RECEIVED:
            let alert = unsafe gnutls_alert_get_name(gnutls_alert_get(raw)).map { unsafe String(cString: $0) }
            return PublishError(.tls, "the server ended TLS: \(alert ?? "unknown alert")")
        default: return PublishError(.tls, "TLS failed: \(unsafe String(cString: gnutls_strerror(code)))")
        }
    }

    private func certificateFault(_ host: String) -> String {
        let status = unsafe gnutls_session_get_verify_cert_status(raw)
        func has(_ flag: gnutls_certificate_status_t) -> Bool { status & flag.rawValue != 0 }
        var faults: [String] = []
        if has(GNUTLS_CERT_SIGNER_NOT_FOUND) { faults.append("its issuer is not among the trusted CAs") }
        if has(GNUTLS_CERT_UNEXPECTED_OWNER) { faults.append("it is not for \(host)") }
        if has(GNUTLS_CERT_EXPIRED) { faults.append("it has expired") }
        if has(GNUTLS_CERT_NOT_ACTIVATED) { faults.append("it is not valid yet") }
        if has(GNUTLS_CERT_REVOKED) { faults.append("it was revoked") }
        if has(GNUTLS_CERT_INSECURE_ALGORITHM) { faults.append("it uses an insecure algorithm") }
        return faults.isEmpty ? "verification status 0x\(String(status, radix: 16))" : faults.joined(separator: ", ")
    }

    /// "TLS1.3", for people.
    var protocolName: String {
        unsafe gnutls_protocol_get_name(gnutls_protocol_get_version(raw)).map { unsafe String(cString: $0) } ?? "TLS"
    }
}
