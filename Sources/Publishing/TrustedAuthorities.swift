internal import CGnuTLS
internal import Glibc
internal import LinuxSystem

/// The CAs that servers are verified against: a file of PEM certificates, read anew for each verification.
///
/// The system's 140 CAs take 3.7 MB once GnuTLS has parsed them all. A server's chain needs one or two of them: those
/// that bear a name that the chain mentions. So the file is read one certificate at a time, some milliseconds for
/// each connection, and only these are kept, for the length of the handshake.
struct TrustedAuthorities: Sendable {
    let file: String
    /// `file` is beneath it; nil for a path.
    private let folder: String?
    /// Hears of the waits for the file's disk, if any does.
    private let files: FileReading?

    /// Where systems have theirs: Debian and Alpine, Fedora, SUSE, the BSDs.
    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// - Parameters:
    ///   - caFile: nil stands for the system's.
    ///   - folder: `caFile` must be beneath it; nil for a path.
    /// - Throws: where the file cannot be read; what it holds shows when it is used.
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

    /// - Parameter caFile: nil stands for the system's.
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
    /// - Returns: how many certificates the file holds, wanted or not.
    func add(named names: [[UInt8]], to list: gnutls_x509_trust_list_t) -> Int {
        Self.waiting(for: file, files) { unsafe read(named: names, to: list) }
    }

    private func read(named names: [[UInt8]], to list: gnutls_x509_trust_list_t) -> Int {
        guard let opened = try? Self.open(file, beneath: folder), let stream = unsafe fdopen(opened.relinquish(), "r")
        else { return 0 }
        var certificateCount = 0
        defer { unsafe fclose(stream) }
        // Lines of PEM are shorter, and a file without lines takes no more.
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
            // None is as large; a file that never ends one is no bundle.
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

/// What is read of one certificate.
enum Certificate {
    /// Parsed from DER; the caller's to deinit.
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
