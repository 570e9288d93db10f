internal import CGnuTLS
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// The CAs that verify servers: a file of PEM certificates, read again for each verification.
///
/// GnuTLS needs 3.5 MiB for the system's 140 parsed CAs. A server's chain needs only the one or two CAs whose names it
/// mentions. So the file is read one certificate at a time, which takes some milliseconds for each connection. Only
/// these CAs are kept, until the handshake ends.
struct TrustedAuthorities: Sendable {
    let file: String
    /// If set, `file` is relative to this folder and must be beneath it.
    private let folder: String?
    /// Is notified of waits for the file's disk; may be nil.
    private let files: FileReading?

    /// The usual places: Debian and Alpine, Fedora, SUSE, the BSDs.
    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// - Parameters:
    ///   - caFile: nil for the system's CAs.
    ///   - folder: `caFile` must be beneath it; nil if `caFile` is a path.
    /// - Throws: if the file cannot be read. Its contents are checked when they are used.
    init(caFile: String?, beneath folder: String? = nil, files: FileReading? = nil) throws(PublishError) {
        self.folder = caFile == nil ? nil : folder
        self.files = files
        file = try Self.waiting(for: caFile, files) { () throws(PublishError) in
            try Self.find(caFile, beneath: folder)
        }
    }

    private static func find(_ caFile: String?, beneath folder: String?) throws(PublishError) -> String {
        if let caFile {
            do { _ = try Self.open(caFile, beneath: folder) } catch {
                throw PublishError(.certificate, "cannot read the CA file \(caFile): \(error)")
            }
            return caFile
        } else {
            guard let found = Self.systemFiles.first(where: { unsafe access($0, R_OK) == 0 }) else {
                throw PublishError(
                    .certificate,
                    "the system has no CA certificates to verify servers against: install them or name a CA file")
            }
            return found
        }
    }

    /// - Parameter caFile: nil for the system's CAs.
    private static func waiting<Result, Failure: Error>(
        for caFile: String?, _ files: FileReading?, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let files else { return try body() }
        return try files.read(caFile.map { "ca_file \($0)" } ?? "the system's CA certificates", .certificate, body)
    }

    private static func open(_ file: String, beneath folder: String?) throws(Errno) -> OwnedDescriptor {
        if let folder { return try FileBeneath.open(file, beneath: folder) }
        let raw = unsafe Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { throw Errno.current }
        return OwnedDescriptor(raw)
    }

    /// Adds the CAs whose subject is one of `names` (distinguished names in DER).
    ///
    /// - Returns: the number of certificates in the file, added or not.
    func add(named names: [[UInt8]], to list: gnutls_x509_trust_list_t) -> Int {
        Self.waiting(for: file, files) { unsafe read(named: names, to: list) }
    }

    private func read(named names: [[UInt8]], to list: gnutls_x509_trust_list_t) -> Int {
        guard let opened = try? Self.open(file, beneath: folder), let stream = unsafe fdopen(opened.relinquish(), "r")
        else { return 0 }
        var certificateCount = 0
        defer { unsafe fclose(stream) }
        // PEM lines are shorter. The limit also bounds the memory for a file without lines.
        let line = UnsafeMutablePointer<CChar>.allocate(capacity: Self.greatestLine)
        defer { unsafe line.deallocate() }
        var certificate: [UInt8] = []
        var isInside = false
        while unsafe fgets(line, CInt(Self.greatestLine), stream) != nil {
            let bytes = unsafe UnsafeRawBufferPointer(start: line, count: strlen(line))
            if unsafe bytes.starts(with: "-----BEGIN CERTIFICATE-----".utf8) {
                certificate.removeAll(keepingCapacity: true)
                isInside = true
            }
            guard isInside else { continue }
            unsafe certificate.append(contentsOf: bytes)
            // No certificate is this large; a file with one that does not end is not a bundle.
            if certificate.count > Self.greatestCertificate { isInside = false }
            if unsafe bytes.starts(with: "-----END CERTIFICATE-----".utf8) {
                isInside = false
                certificateCount += 1
                unsafe Self.add(&certificate, to: list, ifNamedIn: names)
            }
        }
        return certificateCount
    }

    private static let greatestCertificate = 64 * 1024
    private static let greatestLine = 1024

    private static func add(
        _ pem: inout [UInt8], to list: gnutls_x509_trust_list_t, ifNamedIn names: [[UInt8]]
    ) {
        var decoded = unsafe gnutls_datum_t()
        let result = unsafe pem.withUnsafeMutableBufferPointer { text in
            var datum = unsafe gnutls_datum_t(data: text.baseAddress, size: UInt32(text.count))
            return unsafe gnutls_pem_base64_decode2("CERTIFICATE", &datum, &decoded)
        }
        guard result == GNUTLS_E_SUCCESS else { return }
        defer { unsafe upcast_gnutls_free_datum(&decoded) }
        guard let certificate = unsafe Certificate.importing(decoded) else { return }
        var added: gnutls_x509_crt_t? = unsafe certificate
        guard names.contains(unsafe Certificate.name(of: certificate, gnutls_x509_crt_get_raw_dn)),
            unsafe gnutls_x509_trust_list_add_cas(list, &added, 1, 0) == 1
        else { return unsafe gnutls_x509_crt_deinit(certificate) }
    }
}

/// Reads fields of a certificate with GnuTLS.
enum Certificate {
    /// Parses DER. The caller must deinit the result.
    static func importing(_ der: gnutls_datum_t) -> gnutls_x509_crt_t? {
        var certificate: gnutls_x509_crt_t?
        guard unsafe gnutls_x509_crt_init(&certificate) == GNUTLS_E_SUCCESS else { return nil }
        var der = unsafe der
        guard unsafe gnutls_x509_crt_import(certificate, &der, GNUTLS_X509_FMT_DER) == GNUTLS_E_SUCCESS else {
            unsafe gnutls_x509_crt_deinit(certificate)
            return nil
        }
        return unsafe certificate
    }

    /// A distinguished name in DER: the subject's (gnutls_x509_crt_get_raw_dn) or the issuer's.
    static func name(
        of certificate: gnutls_x509_crt_t,
        _ read: (gnutls_x509_crt_t?, UnsafeMutablePointer<gnutls_datum_t>?) -> CInt
    ) -> [UInt8] {
        var name = unsafe gnutls_datum_t()
        guard unsafe read(certificate, &name) == GNUTLS_E_SUCCESS, unsafe name.data != nil else { return [] }
        defer { unsafe upcast_gnutls_free_datum(&name) }
        return unsafe Array(UnsafeBufferPointer(start: name.data, count: Int(name.size)))
    }
}
