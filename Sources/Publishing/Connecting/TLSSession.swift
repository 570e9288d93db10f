internal import CGnuTLS
internal import Glibc
internal import MediaCore

/// A TLS 1.2 or 1.3 client session on a connected descriptor, verified unless configured otherwise.
///
/// The cost of the server's certificates is checked before any of them is used (`CertificateLimits`).
///
/// One thread uses it; the descriptor must outlive it.
@safe final class TLSSession {
    let raw: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t
    private let authorities: TrustedAuthorities?
    private let hostName: UnsafeMutablePointer<CChar>
    /// The faults of the server's certificate, as flags of `gnutls_certificate_status_t`.
    private var certificateStatus: UInt32 = 0
    /// Why the handshake was ended, if the status does not say it; a whole clause.
    private var fault: String?

    /// Appended to the system's defaults. Only elliptic curves agree on keys. Static RSA has no forward secrecy. With
    /// finite fields, the server chooses a prime of any size (TLS 1.2), or one that takes 0.2 s (FFDHE8192).
    private static let priorities =
        "-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-GROUP-DH-ALL:%PROFILE_MEDIUM"

    /// - Parameter authorities: nil accepts any certificate for any name.
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
        var result = unsafe gnutls_set_default_priority_append(raw, Self.priorities, nil, 0)
        if result == 0 {
            let trusted = unsafe UnsafeMutableRawPointer(credentials)
            result = unsafe gnutls_credentials_set(raw, GNUTLS_CRD_CERTIFICATE, trusted)
        }
        // SNI does not allow addresses (RFC 6066, section 3).
        if result == 0, isName {
            result = unsafe gnutls_server_name_set(raw, GNUTLS_NAME_DNS, hostName, strlen(hostName))
        }
        guard result == 0 else {
            throw PublishError(.tls, "TLS cannot be set up: \(unsafe String(cString: gnutls_strerror(result)))")
        }
        unsafe gnutls_session_set_ptr(raw, Unmanaged.passUnretained(self).toOpaque())
        // GnuTLS calls the hook for each complete message before it uses any of it. Swift does not import
        // GNUTLS_HANDSHAKE_ANY, which is all ones.
        unsafe gnutls_handshake_set_hook_function(raw, UInt32.max, GNUTLS_HOOK_PRE) {
            session, type, _, isIncoming, message in
            guard isIncoming != 0, let own = unsafe gnutls_session_get_ptr(session) else { return 0 }
            return unsafe Unmanaged<TLSSession>.fromOpaque(own).takeUnretainedValue().inspect(type, message)
        }
        if authorities != nil {
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

    /// Called for each handshake message from the server before it is processed. Zero accepts it.
    private func inspect(_ type: UInt32, _ message: UnsafePointer<gnutls_datum_t>?) -> CInt {
        switch gnutls_handshake_description_t(type) {
        case GNUTLS_HANDSHAKE_CERTIFICATE_PKT: break
        // We do not offer compression, and the decompressed message has not been checked.
        case GNUTLS_HANDSHAKE_COMPRESSED_CERTIFICATE_PKT: return GNUTLS_E_UNEXPECTED_HANDSHAKE_PACKET
        default: return 0
        }
        do {
            try CertificateLimits.check(
                message: unsafe message.map { unsafe Self.bytes(of: $0.pointee) } ?? [],
                isTLS13: unsafe gnutls_protocol_get_version(raw) == GNUTLS_TLS1_3)
            return 0
        } catch {
            return refuse(error)
        }
    }

    private func refuse(_ refusal: CertificateLimits.Refusal) -> CInt {
        fault = Self.refused(refusal.why)
        return GNUTLS_E_CERTIFICATE_ERROR
    }

    private static func refused(_ why: String) -> String { "the server's certificate was refused: \(why)" }

    private static func bytes(of datum: gnutls_datum_t) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
    }

    /// Called during the handshake when the server's certificates have come. Loads the CAs that may have signed them,
    /// and lets GnuTLS verify chain and name. Zero accepts.
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
            fault = "cannot use the CA file \(authorities.file): it holds no certificates"
            return GNUTLS_E_CERTIFICATE_ERROR
        }
        // The credentials own the list from here on.
        unsafe gnutls_certificate_set_trust_list(credentials, list, 0)
        // GnuTLS would use the keys in stapled OCSP responses before it verifies the chain.
        let responses = stapledResponses(for: Int(count))
        if !responses.isEmpty {
            let result = verifyChain(GNUTLS_VERIFY_DISABLE_CRL_CHECKS.rawValue)
            guard result == 0 else { return result }
            do { try CertificateLimits.check(stapled: responses) } catch { return refuse(error) }
        }
        return verifyChain(0)
    }

    /// Lets GnuTLS verify chain, name and purpose. Zero accepts.
    private func verifyChain(_ flags: UInt32) -> CInt {
        unsafe gnutls_certificate_set_verify_flags(credentials, flags)
        let result = unsafe GNUTLS_KP_TLS_WWW_SERVER.withCString { purpose in
            var wanted = unsafe [
                gnutls_typed_vdata_st(
                    type: GNUTLS_DT_DNS_HOSTNAME,
                    data: UnsafeMutableRawPointer(hostName).assumingMemoryBound(to: UInt8.self), size: 0),
                gnutls_typed_vdata_st(
                    type: GNUTLS_DT_KEY_PURPOSE_OID,
                    data: UnsafeMutableRawPointer(mutating: purpose).assumingMemoryBound(to: UInt8.self), size: 0),
            ]
            return unsafe gnutls_certificate_verify_peers(raw, &wanted, UInt32(wanted.count), &certificateStatus)
        }
        guard result == GNUTLS_E_SUCCESS else { return result }
        return certificateStatus == 0 ? 0 : GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR
    }

    /// The stapled OCSP responses of the first `count` certificates.
    private func stapledResponses(for count: Int) -> [[UInt8]] {
        (0..<UInt32(count)).compactMap { index in
            var response = unsafe gnutls_datum_t()
            let result = unsafe gnutls_ocsp_status_request_get2(raw, index, &response)
            return result == GNUTLS_E_SUCCESS ? unsafe Self.bytes(of: response) : nil
        }
    }

    /// Describes a GnuTLS error; after a failed verification, the faults of the certificate.
    func error(_ code: CInt, host: String) -> PublishError {
        if let fault { return PublishError(.certificate, fault) }
        switch code {
        case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
            return PublishError(.certificate, Self.refused(certificateFault(host)))
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
        if has(GNUTLS_CERT_PURPOSE_MISMATCH) { faults.append("it is not for TLS servers (extended key usage)") }
        if has(GNUTLS_CERT_MISSING_OCSP_STATUS) { faults.append("it demands an OCSP response, and none came with it") }
        if has(GNUTLS_CERT_INVALID_OCSP_STATUS) { faults.append("the OCSP response that came with it is not valid") }
        return faults.isEmpty ? "verification status 0x\(String(status, radix: 16))" : faults.joined(separator: ", ")
    }

    /// For example "TLS1.3", for people.
    var protocolName: String {
        unsafe gnutls_protocol_get_name(gnutls_protocol_get_version(raw)).map { unsafe String(cString: $0) } ?? "TLS"
    }
}
