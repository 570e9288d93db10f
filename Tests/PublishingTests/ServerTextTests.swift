import MediaCore
@testable import Publishing
import Testing

@Suite struct ServerTextTests {
    private func shown(
        _ text: String, key: String = "k3y?sig=abc", url: String = "rtmp://joe:pw@h/app?t=q"
    ) throws -> String {
        ServerText(text, hiding: RTMPDestinationSettings(endpoint: try RTMPEndpoint(url), key: Secret(key))).shown
    }

    @Test func hidesTheSecretsThatAServerEchoes() throws {
        #expect(try shown("no stream k3y?sig=abc here") == "no stream <redacted> here")
        #expect(try shown("stream k3y is in use") == "stream <redacted> is in use")
        #expect(try shown("app?t=q: login as joe/pw") == "app?<redacted>: login as <redacted>/<redacted>")
        #expect(try shown("plain words", key: "k", url: "rtmp://h/app") == "plain words")
    }

    /// Bug: of a key with a token, or a URL with one, a server that quoted the token alone gave it away; so did one
    /// that changed its spelling.
    @Test func hidesPartsAndOtherSpellings() throws {
        #expect(try shown("invalid token TOPSECRET1", key: "s?token=TOPSECRET1") == "invalid token <redacted>")
        let url = "rtmp://h/live?auth=TOPSECRET3&u=1"
        #expect(try shown("auth TOPSECRET3 is wrong", url: url) == "auth <redacted> is wrong")
        #expect(try shown("no abc%20TOP%2FSECRET2", key: "abc TOP/SECRET2") == "no <redacted>")
        #expect(try shown("no abc%20TOP%2fSECRET2 here", key: "abc TOP/SECRET2") == "no <redacted> here")
        #expect(try shown("TOPSECRET5?", key: "TopSecret5") == "<redacted>?")
        #expect(try shown("the token is bad", key: "strm?token=abcd1") == "the token is bad", "a name is no secret")
    }

    /// Bug: unreserved characters that a server percent-encodes were not matched, and the key was shown.
    @Test func hidesEveryPercentEncodedSpelling() throws {
        let key = "SECRETKEY-0123456789"
        #expect(try shown("no SECRETKEY%2D0123456789", key: key) == "no <redacted>")
        #expect(try shown("no SECRETKEY%2d0123456789.", key: key) == "no <redacted>.")
        #expect(try shown("no %53ECRETKEY%2D012345678%39", key: key) == "no <redacted>")
        let all = key.utf8.map { "%" + String($0, radix: 16) }.joined()
        #expect(try shown("no \(all)!", key: key) == "no <redacted>!")
        #expect(try shown("no \(all.replacing("%", with: "%25"))!", key: key) == "no <redacted>!")
        #expect(try shown("no SECRETKEY%2%350123456789", key: key) == "no SECRETKEY%2%350123456789")
        #expect(try shown("no SECRETKEY%%32D0123456789", key: key) == "no <redacted>")
        // The key itself holds an escape.
        #expect(try shown("no abcd/e, abcd%2fe", key: "k1?token=abcd%2Fe") == "no <redacted>, <redacted>")
        #expect(try shown("no ab+cd ef", key: "ab cd+ef") == "no <redacted>")
        // What is no secret is shown as it was sent.
        #expect(try shown("100% of %41 %zz a+b", key: "k3y") == "100% of %41 %zz a+b")
    }

    @Test func isBoundedAndPrintable() throws {
        #expect(try shown("a\u{1b}[31m\nb") == "a [31m b")
        #expect(try shown(String(repeating: "x", count: 10_000)).count == ServerText.maximumCharacters)
    }
}
