@testable import Publishing
import SeededRandom
import Testing

/// Parses a server's certificates before they are used: exactly what GnuTLS will read, or nothing.
@Suite struct CertificateLimitsTests {
    // MARK: DER by hand

    private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = [UInt8(truncatingIfNeeded: content.count)]
        if content.count >= 0x80 {
            let bytes = (0..<3).map { UInt8(truncatingIfNeeded: content.count >> (8 * (2 - $0))) }.drop { $0 == 0 }
            length = [0x80 | UInt8(bytes.count)] + bytes
        }
        return [tag] + length + content
    }
    private func sequence(_ parts: [UInt8]...) -> [UInt8] { der(0x30, parts.flatMap { $0 }) }

    /// A positive number of this many bits, all of which are ones.
    private func integer(bits: Int) -> [UInt8] {
        let first = UInt8(truncatingIfNeeded: (1 << ((bits - 1) % 8 + 1)) - 1)
        let digits = [first] + [UInt8](repeating: 0xff, count: (bits - 1) / 8)
        return der(0x02, first >= 0x80 ? [0] + digits : digits)
    }

    private static let rsaEncryption: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    private static let rsaPSS: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a]
    private static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let p256: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    private static let secp256k1: [UInt8] = [0x2b, 0x81, 0x04, 0x00, 0x0a]
    private static let dsa: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01]
    private static let ed25519: [UInt8] = [0x2b, 0x65, 0x70]
    /// Another identifier of RSA that GnuTLS knows.
    private static let x509RSA: [UInt8] = [0x55, 0x08, 0x01, 0x01]

    private func rsa(_ bits: Int, exponentBits: Int = 17, name: [UInt8] = rsaEncryption) -> [UInt8] {
        let key = sequence(integer(bits: bits), integer(bits: exponentBits))
        return sequence(sequence(der(0x06, name), [5, 0]), der(0x03, [0] + key))
    }
    private func key(_ name: [UInt8], parameters: [UInt8]) -> [UInt8] {
        sequence(sequence(der(0x06, name), parameters), der(0x03, [0, 4, 1, 2, 3]))
    }

    private func certificate(
        _ key: [UInt8], extensions: [UInt8] = [], issuer: [UInt8] = [], subject: [UInt8] = []
    ) -> [UInt8] {
        let algorithm = sequence(der(0x06, Self.rsaEncryption), [5, 0])
        let version = der(0xa0, der(0x02, [2]))
        let body = sequence(
            version, der(0x02, [1]), algorithm, sequence(issuer), sequence(), sequence(subject), key,
            extensions.isEmpty ? [] : der(0xa3, der(0x30, extensions)))
        return sequence(body, algorithm, der(0x03, [0, 1]))
    }
    private func purposes(_ count: Int) -> [UInt8] {
        let list = der(0x30, Array([[UInt8]](repeating: der(0x06, [0x2a]), count: count).joined()))
        return sequence(der(0x06, [0x55, 0x1d, 0x25]), der(0x01, [0xff]), der(0x04, list))
    }
    private func names(_ count: Int, issuers: Bool = false) -> [UInt8] {
        let list = der(0x30, Array([[UInt8]](repeating: der(0x82, [0x61]), count: count).joined()))
        return sequence(der(0x06, [0x55, 0x1d, issuers ? 0x12 : 0x11]), der(0x04, list))
    }

    private func vector(_ lengthBytes: Int, _ bytes: [UInt8]) -> [UInt8] {
        (0..<lengthBytes).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * (lengthBytes - 1 - $0))) } + bytes
    }
    private func message(_ certificates: [[UInt8]], isTLS13: Bool = true) -> [UInt8] {
        let extensions: [UInt8] = isTLS13 ? [0, 2, 9, 9] : []
        let entries: [UInt8] = certificates.flatMap { vector(3, $0) + extensions }
        let context: [UInt8] = isTLS13 ? [0] : []
        return context + vector(3, entries)
    }

    private func refusal(_ message: [UInt8], isTLS13: Bool = true) -> String? {
        do throws(CertificateLimits.Refusal) {
            try CertificateLimits.check(message: message, isTLS13: isTLS13)
            return nil
        } catch { return error.why }
    }
    private func refusal(ofKey key: [UInt8]) -> String? { refusal(message([certificate(key)])) }

    // MARK: Tests

    @Test func keysOfRSA() {
        for bits in [2048, 2049, 3072, 4096, 8192] { #expect(refusal(ofKey: rsa(bits)) == nil) }
        for bits in [1, 1024, 2047, 8193, 16_384, 81_920] {
            #expect(
                refusal(ofKey: rsa(bits)) == "its RSA key has \(bits) bits, 2048 to 8192 are accepted")
        }
        #expect(refusal(ofKey: rsa(2048, exponentBits: 32)) == nil)
        #expect(refusal(ofKey: rsa(2048, exponentBits: 33)) == "its RSA exponent has 33 bits, at most 32 are accepted")
        #expect(refusal(ofKey: rsa(8193, name: Self.rsaPSS))?.hasPrefix("its RSA key has 8193") == true)
        #expect(refusal(ofKey: rsa(4096, name: Self.rsaPSS)) == nil)
        #expect(refusal(ofKey: rsa(4096, name: Self.x509RSA)) == "its key is neither RSA nor of a curve that TLS names")
    }

    /// A modulus without its leading zero is negative in DER, but GnuTLS reads its full size.
    @Test func aNegativeModulus() {
        let number = der(0x02, [UInt8](repeating: 0xff, count: 2048))
        let key = sequence(number, integer(bits: 17))
        let info = sequence(sequence(der(0x06, Self.rsaEncryption), [5, 0]), der(0x03, [0] + key))
        #expect(refusal(ofKey: info)?.hasPrefix("its RSA key has 16384 bits") == true)
    }

    @Test func keysOfCurves() {
        #expect(refusal(ofKey: key(Self.ecPublicKey, parameters: der(0x06, Self.p256))) == nil)
        #expect(refusal(ofKey: key(Self.ed25519, parameters: [])) == nil)
        let strange = [
            key(Self.ecPublicKey, parameters: der(0x06, Self.secp256k1)), key(Self.ecPublicKey, parameters: sequence()),
            key(Self.ecPublicKey, parameters: []), key(Self.dsa, parameters: sequence(integer(bits: 16_384))),
        ]
        for key in strange { #expect(refusal(ofKey: key) == "its key is neither RSA nor of a curve that TLS names") }
    }

    @Test(arguments: [true, false]) func chains(isTLS13: Bool) {
        let good = certificate(rsa(2048))
        func refusal(_ chain: [[UInt8]]) -> String? {
            self.refusal(message(chain, isTLS13: isTLS13), isTLS13: isTLS13)
        }
        #expect(refusal([[UInt8]](repeating: good, count: 10)) == nil)
        #expect(refusal([[UInt8]](repeating: good, count: 11)) == "11 certificates came, at most 10 are accepted")
        #expect(
            refusal([good, good, certificate(rsa(16_384))])
                == "issuer 2's RSA key has 16384 bits, 2048 to 8192 are accepted")
        #expect(refusal([certificate(rsa(200_000))])?.hasPrefix("its certificate has 25") == true)
        let filler = sequence(der(0x06, [0x2a]), der(0x04, [UInt8](repeating: 0, count: 12_000)))
        let long = certificate(rsa(2048), extensions: filler)
        #expect(refusal([long, long]) == nil)
        #expect(refusal([long, long, long])?.hasSuffix("bytes came, at most 32768 are accepted") == true)
        // A message of the other TLS version.
        #expect(self.refusal(message([good], isTLS13: !isTLS13), isTLS13: isTLS13) != nil)
    }

    @Test func purposes() {
        let usual = certificate(rsa(2048), extensions: purposes(2))
        #expect(refusal(message([usual])) == nil)
        let many = certificate(rsa(2048), extensions: purposes(20) + purposes(13))
        #expect(refusal(message([many])) == "its certificate is for 33 purposes, at most 32 are accepted")
    }

    @Test func extensions() {
        func many(_ count: Int) -> [[UInt8]] {
            let one = sequence(der(0x06, [0x2a]), der(0x04, [5, 0]))
            return [certificate(rsa(2048), extensions: Array([[UInt8]](repeating: one, count: count).joined()))]
        }
        #expect(refusal(message(many(64))) == nil)
        #expect(refusal(message(many(65))) == "its certificate has 65 extensions, at most 64 are accepted")
    }

    @Test func names() {
        #expect(refusal(message([certificate(rsa(2048), extensions: names(512))])) == nil)
        for extensions in [names(513), names(500) + names(13, issuers: true)] {
            #expect(
                refusal(message([certificate(rsa(2048), extensions: extensions)]))
                    == "its certificate has 513 alternative names, at most 512 are accepted")
        }
    }

    @Test func distinguishedNames() {
        /// One set of two attributes, and sets of one.
        func name(_ count: Int) -> [UInt8] {
            let attribute = sequence(der(0x06, [0x55, 0x04, 0x0b]), der(0x0c, [0x61]))
            return der(0x31, attribute + attribute) + (2..<count).flatMap { _ in der(0x31, attribute) }
        }
        func refusal(_ issuer: [UInt8], _ subject: [UInt8]) -> String? {
            self.refusal(message([certificate(rsa(2048), issuer: issuer, subject: subject)]))
        }
        #expect(refusal(name(64), name(64)) == nil)
        #expect(
            refusal(name(64), name(65))
                == "the names in its certificate have 129 attributes, at most 128 are accepted")
        #expect(refusal(sequence(), []) == "its certificate is not valid DER")
    }

    /// Truncated bytes, and any spelling that is not DER, are refused, and read within their bounds.
    @Test func everythingElseIsMalformed() {
        let whole = message([certificate(rsa(2048), extensions: purposes(2))])
        #expect(refusal(whole) == nil)
        for count in whole.indices { #expect(refusal(Array(whole[..<count])) != nil, "the first \(count) bytes") }
        #expect(refusal(whole + [0]) != nil)
        let good = certificate(rsa(2048))
        let spellings: [[UInt8]] = [
            // An indefinite length, a length in too many bytes, and bytes after the certificate.
            [0x30, 0x80] + good[4...] + [0, 0], [0x30, 0x83, 0] + good[2...], good + [5, 0],
            certificate([0x1f] + rsa(2048)), [0x30], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [],
        ]
        for spelling in spellings { #expect(refusal(message([spelling])) == "its certificate is not valid DER") }
    }

    @Test func anyBytes() {
        var random = SplitMix64(seed: 1)
        let whole = message([certificate(rsa(2048), extensions: purposes(2))])
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            // It returns, and never traps.
            _ = refusal(bytes, isTLS13: .random(using: &random))
            _ = try? CertificateLimits.check(stapled: [bytes])
        }
    }
}
