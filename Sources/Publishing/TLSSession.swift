internal import CGnuTLS
internal import Glibc

/// A TLS client session on a connected descriptor: TLS 1.2 or 1.3, verified unless told otherwise.
///
/// One thread uses it; the descriptor must outlive it.
@safe final class TLSSession {
    let raw: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t
    private let authorities: TrustedAuthorities?
    private let hostName: UnsafeMutablePointer<CChar>
    /// What was found wrong with the server's certificate, as flags of `gnutls_certificate_status_t`.
    private var certificateStatus: UInt32 = 0
    /// Wrong with the authorities themselves.
    private var authoritiesFault: String?

    /// - Parameter authorities: nil accepts any certificate, for anybody.
    init(descriptor: CInt, host: String, authorities: TrustedAuthorities?) throws(PublishError) {
        var allocated: gnutls_certificate_credentials_t?
        guard unsafe gnutls_certificate_allocate_credentials(&allocated) == GNUTLS_E_SUCCESS,
            let credentials = unsafe allocated
        else { throw PublishError(.system, "no memory for TLS credentials") }
        var created: gnutls_session_t?
        let flags = UInt32(GNUTLS_CLIENT) | UInt32(GNUTLS_NONBLOCK) | UInt32(GNUTLS_NO_SIGNAL)
        guard unsafe gnutls_init(&created, flags) == GNUTLS_E_SUCCESS, let raw = unsafe created else {
            unsafe gnutls_certificate_free_credentials(credentials)
            throw PublishError(.system, "no memory for a TLS session")
        }
        unsafe self.raw = raw
        unsafe self.credentials = credentials
        self.authorities = authorities
        unsafe hostName = strdup(host)
        let isName = !host.contains(":") && !host.allSatisfy { $0.isNumber || $0 == "." }
        var result = unsafe gnutls_set_default_priority_append(raw, "-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", nil, 0)
        if result == 0 {
            let trusted = unsafe UnsafeMutableRawPointer(credentials)
            result = unsafe gnutls_credentials_set(raw, GNUTLS_CRD_CERTIFICATE, trusted)
        }
        // Addresses have no place in SNI (RFC 6066, section 3).
        if result == 0, isName {
            result = unsafe gnutls_server_name_set(raw, GNUTLS_NAME_DNS, hostName, strlen(hostName))
        }
        guard result == 0 else {
            throw PublishError(.tls, "TLS cannot be set up: \(unsafe String(cString: gnutls_strerror(result)))")
        }
        if authorities != nil {
            unsafe gnutls_session_set_ptr(raw, Unmanaged.passUnretained(self).toOpaque())
            unsafe gnutls_session_set_verify_function(raw) { session in
                guard let own = unsafe gnutls_session_get_ptr(session) else { return GNUTLS_E_CERTIFICATE_ERROR }
                return unsafe Unmanaged<TLSSession>.fromOpaque(own).takeUnretainedValue().verify()
            }
        }
        unsafe gnutls_transport_set_int2(raw, descriptor, descriptor)
    }

    deinit {
        unsafe gnutls_deinit(raw)
        unsafe gnutls_certificate_free_credentials(credentials)
        unsafe free(hostName)
    }

    /// Called during the handshake, when the server's certificates have come: looks for those who may have signed them,
    /// and has GnuTLS verify chain and name. Zero accepts.
    private func verify() -> CInt {
        guard let authorities else { return GNUTLS_E_CERTIFICATE_ERROR }
        var count: UInt32 = 0
        var names: [[UInt8]] = []
        if let chain = unsafe gnutls_certificate_get_peers(raw, &count) {
            for index in 0..<Int(count) {
                guard let certificate = unsafe Certificate.importing(chain[index]) else { continue }
                defer { unsafe gnutls_x509_crt_deinit(certificate) }
                unsafe names.append(Certificate.name(of: certificate, gnutls_x509_crt_get_raw_dn))
                unsafe names.append(Certificate.name(of: certificate, gnutls_x509_crt_get_raw_issuer_dn))
            }
        }
        var created: gnutls_x509_trust_list_t?
        guard unsafe gnutls_x509_trust_list_init(&created, 0) == GNUTLS_E_SUCCESS, let list = unsafe created else {
            return GNUTLS_E_MEMORY_ERROR
        }
        guard unsafe authorities.add(named: names.filter { !$0.isEmpty }, to: list) > 0 else {
            unsafe gnutls_x509_trust_list_deinit(list, 1)
            authoritiesFault = "cannot use the CA file \(authorities.file): it holds no certificates"
            return GNUTLS_E_CERTIFICATE_ERROR
        }
        // The credentials own it from here on.
        unsafe gnutls_certificate_set_trust_list(credentials, list, 0)
        let result = unsafe gnutls_certificate_verify_peers3(raw, hostName, &certificateStatus)
        guard result == GNUTLS_E_SUCCESS else { return result }
        return certificateStatus == 0 ? 0 : GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR
    }

    /// What a GnuTLS error means, for people; after a failed verification, what is wrong with the certificate.
    func error(_ code: CInt, host: String) -> PublishError {
        if let authoritiesFault { return PublishError(.certificate, authoritiesFault) }
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
        let status = certificateStatus
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
