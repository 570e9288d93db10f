/// Limits on the cost of a server's certificates, checked before they are trusted. Pure.
///
/// In TLS 1.3, a client uses a certificate's key before it verifies the certificate, and cannot interrupt that. The
/// server chooses the size of key and exponent. Therefore they are checked first, even if the certificate is not
/// verified. The limits are wider than what public authorities issue. All checked certificates together cost less than
/// 100 ms.
enum CertificateLimits {
    static let certificates = 10
    static let certificateBytes = 16 * 1024
    static let messageBytes = 32 * 1024
    static let rsaBits = 2048...8192
    /// The maximum number of extended key usages in a certificate. GnuTLS reads the whole list again for each entry.
    static let purposes = 32
    /// The maximum number of alternative names in a certificate. GnuTLS reads them in the same way.
    static let names = 512
    /// The maximum number of extensions in a certificate. About 1,300 take 40 to 55 ms of computation.
    static let extensions = 64
    /// The maximum number of attributes in the names of issuer and subject, together. GnuTLS reads them as it
    /// reads names.
    static let attributes = 128
    /// The maximum number of stapled OCSP responses.
    static let responses = 2
    /// 65537 has 17 bits. Go and Windows accept at most 32, too.
    static let exponentBits = 32

    struct Refusal: Error, Equatable {
        /// Continues "the server's certificate was refused: ".
        var why: String
        init(_ why: String) { self.why = why }
    }

    /// Checks the body of a Certificate message: of TLS 1.3 (RFC 8446, section 4.4.2) or of TLS 1.2.
    static func check(message: [UInt8], isTLS13: Bool) throws(Refusal) {
        guard message.count <= messageBytes else {
            throw Refusal("certificates of \(message.count) bytes came, at most \(messageBytes) are accepted")
        }
        let chain: [ArraySlice<UInt8>]
        do { chain = try certificates(in: message[...], isTLS13: isTLS13) } catch {
            throw Refusal("the message that holds it is malformed")
        }
        guard chain.count <= certificates else {
            throw Refusal("\(chain.count) certificates came, at most \(certificates) are accepted")
        }
        for (index, certificate) in chain.enumerated() {
            try check(certificate, as: index == 0 ? "its" : "issuer \(index)'s")
        }
    }

    /// - Parameter owner: the owner in the genitive, for messages.
    static func check(_ certificate: ArraySlice<UInt8>, as owner: String) throws(Refusal) {
        guard certificate.count <= certificateBytes else {
            throw Refusal(
                "\(owner) certificate has \(certificate.count) bytes, at most \(certificateBytes) are accepted")
        }
        let outline: CertificateOutline
        do { outline = try CertificateOutline(certificate) } catch {
            throw Refusal("\(owner) certificate is not valid DER")
        }
        guard outline.extensions <= extensions else {
            throw Refusal(
                "\(owner) certificate has \(outline.extensions) extensions, at most \(extensions) are accepted")
        }
        guard outline.purposes <= purposes else {
            throw Refusal("\(owner) certificate is for \(outline.purposes) purposes, at most \(purposes) are accepted")
        }
        guard outline.names <= names else {
            throw Refusal(
                "\(owner) certificate has \(outline.names) alternative names, at most \(names) are accepted")
        }
        guard outline.attributes <= attributes else {
            throw Refusal(
                "the names in \(owner) certificate have \(outline.attributes) attributes, at most \(attributes) are "
                    + "accepted")
        }
        switch outline.key {
        case .curve: break
        case .other: throw Refusal("\(owner) key is neither RSA nor of a curve that TLS names")
        case .rsa(let bits, let exponentBits):
            guard rsaBits.contains(bits) else {
                throw Refusal(
                    "\(owner) RSA key has \(bits) bits, \(rsaBits.lowerBound) to \(rsaBits.upperBound) are accepted")
            }
            guard exponentBits <= Self.exponentBits else {
                throw Refusal(
                    "\(owner) RSA exponent has \(exponentBits) bits, at most \(Self.exponentBits) are accepted")
            }
        }
    }

    /// Checks stapled OCSP responses (RFC 6960). GnuTLS uses the keys of the certificates in them, and tries each with
    /// every issuer.
    static func check(stapled responses: [[UInt8]]) throws(Refusal) {
        guard responses.count <= Self.responses else {
            throw Refusal("\(responses.count) OCSP responses came with it, at most \(Self.responses) are accepted")
        }
        for response in responses { try check(stapled: response[...]) }
    }

    private static func check(stapled response: ArraySlice<UInt8>) throws(Refusal) {
        let signers: [ArraySlice<UInt8>]
        do { signers = try certificates(inResponse: response) } catch {
            throw Refusal("its OCSP response is malformed")
        }
        guard signers.count <= certificates else {
            throw Refusal(
                "\(signers.count) certificates came in its OCSP response, at most \(certificates) are accepted")
        }
        for signer in signers { try check(signer, as: "its OCSP signer's") }
    }

    private static func certificates(inResponse response: ArraySlice<UInt8>) throws(BadDER) -> [ArraySlice<UInt8>] {
        var outer = try DERReader.only(DERReader.Tag.sequence, in: response)
        try outer.skip(DERReader.Tag.enumerated)
        // An unsuccessful response has no bytes.
        guard !outer.isAtEnd else { return [] }
        var bytes = try outer.enter(DERReader.Tag.context0).entering(DERReader.Tag.sequence)
        try outer.end()
        try bytes.skip(DERReader.Tag.objectIdentifier)
        var basic = try DERReader.only(
            DERReader.Tag.sequence, in: try bytes.contents(of: DERReader.Tag.octetString))
        // Data, algorithm, signature.
        try basic.skip(DERReader.Tag.sequence)
        try basic.skip(DERReader.Tag.sequence)
        try basic.skip(DERReader.Tag.bitString)
        guard !basic.isAtEnd else { return [] }
        var list = try basic.enter(DERReader.Tag.context0).entering(DERReader.Tag.sequence)
        var signers: [ArraySlice<UInt8>] = []
        while !list.isAtEnd { signers.append(try list.element(DERReader.Tag.sequence)) }
        return signers
    }

    private static func certificates(
        in message: ArraySlice<UInt8>, isTLS13: Bool
    ) throws(BadDER) -> [ArraySlice<UInt8>] {
        var rest = message
        // The request context of a server is empty.
        if isTLS13 { guard try take(1, from: &rest).isEmpty else { throw BadDER() } }
        var list = try take(3, from: &rest)
        guard rest.isEmpty else { throw BadDER() }
        var chain: [ArraySlice<UInt8>] = []
        while !list.isEmpty {
            chain.append(try take(3, from: &list))
            if isTLS13 { _ = try take(2, from: &list) }
        }
        return chain
    }

    /// Takes a TLS vector: a length of `lengthBytes` bytes, then the content.
    private static func take(
        _ lengthBytes: Int, from rest: inout ArraySlice<UInt8>
    ) throws(BadDER) -> ArraySlice<UInt8> {
        guard rest.count >= lengthBytes else { throw BadDER() }
        let length = rest.prefix(lengthBytes).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(lengthBytes)
        guard rest.count >= length else { throw BadDER() }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
