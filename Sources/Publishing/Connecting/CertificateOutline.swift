/// The parts of a certificate that decide the cost of using it: the public key, and the lists that GnuTLS reads again
/// for each entry. Pure.
struct CertificateOutline: Equatable {
    enum Key: Equatable {
        /// - Parameters:
        ///   - bits: size of the modulus.
        ///   - exponentBits: size of the public exponent.
        case rsa(bits: Int, exponentBits: Int)
        /// P-256, P-384, P-521, Ed25519 or Ed448. Their cost is fixed.
        case curve
        /// Another named curve, explicit curve parameters, DSA, GOST, or an unknown algorithm.
        case other
    }

    let key: Key
    let extensions: Int
    /// The number of extended key usages.
    let purposes: Int
    /// The number of alternative names of subject and issuer.
    let names: Int
    /// The number of attributes in the distinguished names of issuer and subject, together.
    let attributes: Int

    /// - Parameter certificate: a whole X.509 certificate (RFC 5280, section 4.1).
    init(_ certificate: ArraySlice<UInt8>) throws(BadDER) {
        var outer = try DERReader.only(DERReader.Tag.sequence, in: certificate)
        var body = try outer.enter(DERReader.Tag.sequence)
        if body.tag == DERReader.Tag.context0 { try body.skip(DERReader.Tag.context0) }
        // Serial number; signature algorithm, issuer, validity, subject.
        try body.skip(DERReader.Tag.integer)
        try body.skip(DERReader.Tag.sequence)
        let issuer = try Self.attributes(body.enter(DERReader.Tag.sequence))
        try body.skip(DERReader.Tag.sequence)
        attributes = try issuer + Self.attributes(body.enter(DERReader.Tag.sequence))
        key = try Self.key(try body.enter(DERReader.Tag.sequence))
        // Unique identifiers of issuer and subject are not used.
        for tag in DERReader.Tag.uniqueIdentifiers where body.tag == tag { try body.skip(tag) }
        guard !body.isAtEnd else {
            (extensions, purposes, names) = (0, 0, 0)
            return
        }
        var list = try body.enter(DERReader.Tag.context3).entering(DERReader.Tag.sequence)
        try body.end()
        var (count, purposes, names) = (0, 0, 0)
        while !list.isAtEnd {
            count += 1
            var item = try list.enter(DERReader.Tag.sequence)
            let identifier = try item.contents(of: DERReader.Tag.objectIdentifier)
            let isPurposes = identifier.elementsEqual(Self.extendedKeyUsage)
            guard isPurposes || Self.alternativeNames.contains(where: { identifier.elementsEqual($0) }) else {
                continue
            }
            if item.tag == DERReader.Tag.boolean { try item.skip(DERReader.Tag.boolean) }
            let value = try item.contents(of: DERReader.Tag.octetString)
            var entries = try DERReader.only(DERReader.Tag.sequence, in: value)
            while let tag = entries.tag {
                try entries.skip(isPurposes ? DERReader.Tag.objectIdentifier : tag)
                if isPurposes { purposes += 1 } else { names += 1 }
            }
        }
        (extensions, self.purposes, self.names) = (count, purposes, names)
    }

    private static let rsa: [[UInt8]] = [
        // rsaEncryption and RSASSA-PSS: 1.2.840.113549.1.1.1 and .10.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01], [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a],
    ]
    /// 1.2.840.10045.2.1
    private static let ellipticCurve: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let namedCurves: [[UInt8]] = [
        // secp256r1, secp384r1 and secp521r1: 1.2.840.10045.3.1.7, 1.3.132.0.34 and .35.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], [0x2b, 0x81, 0x04, 0x00, 0x22],
        [0x2b, 0x81, 0x04, 0x00, 0x23],
    ]
    /// Ed25519 and Ed448: 1.3.101.112 and .113.
    private static let edwardsCurves: [[UInt8]] = [[0x2b, 0x65, 0x70], [0x2b, 0x65, 0x71]]
    /// 2.5.29.37
    private static let extendedKeyUsage: [UInt8] = [0x55, 0x1d, 0x25]
    /// 2.5.29.17 and .18
    private static let alternativeNames: [[UInt8]] = [[0x55, 0x1d, 0x11], [0x55, 0x1d, 0x12]]

    /// Counts the attributes of a distinguished name, which is a sequence of sets.
    private static func attributes(_ content: DERReader) throws(BadDER) -> Int {
        var (name, count) = (content, 0)
        while !name.isAtEnd {
            var set = try name.enter(DERReader.Tag.set)
            while !set.isAtEnd {
                try set.skip(DERReader.Tag.sequence)
                count += 1
            }
        }
        return count
    }

    /// Reads a SubjectPublicKeyInfo.
    private static func key(_ content: DERReader) throws(BadDER) -> Key {
        var info = content
        var algorithm = try info.enter(DERReader.Tag.sequence)
        let key = try info.contents(of: DERReader.Tag.bitString)
        try info.end()
        let identifier = try algorithm.contents(of: DERReader.Tag.objectIdentifier)
        if rsa.contains(where: { identifier.elementsEqual($0) }) {
            // The first byte counts the unused bits of the last one.
            guard key.first == 0 else { throw BadDER() }
            var numbers = try DERReader.only(DERReader.Tag.sequence, in: key.dropFirst())
            let modulus = try numbers.contents(of: DERReader.Tag.integer)
            let exponent = try numbers.contents(of: DERReader.Tag.integer)
            try numbers.end()
            return .rsa(bits: bits(modulus), exponentBits: bits(exponent))
        }
        if identifier.elementsEqual(ellipticCurve) {
            guard algorithm.tag == DERReader.Tag.objectIdentifier else { return .other }
            let curve = try algorithm.contents(of: DERReader.Tag.objectIdentifier)
            return namedCurves.contains { curve.elementsEqual($0) } ? .curve : .other
        }
        return edwardsCurves.contains { identifier.elementsEqual($0) } ? .curve : .other
    }

    /// The size of an unsigned number. In DER its first bit may make it negative, but some libraries ignore that.
    private static func bits(_ number: ArraySlice<UInt8>) -> Int {
        let digits = number.drop { $0 == 0 }
        guard let first = digits.first else { return 0 }
        return digits.count * 8 - first.leadingZeroBitCount
    }
}
