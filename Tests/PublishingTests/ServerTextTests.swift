import Endpoints
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

    /// Bug: if a key or a URL contained a token, a server that quoted only the token revealed it. So did a server that
    /// changed its spelling.
    @Test func hidesPartsAndOtherSpellings() throws {
        #expect(try shown("invalid token TOPSECRET1", key: "s?token=TOPSECRET1") == "invalid token <redacted>")
        let url = "rtmp://h/live?auth=TOPSECRET3&u=1"
        #expect(try shown("auth TOPSECRET3 is wrong", url: url) == "auth <redacted> is wrong")
        #expect(try shown("no abc%20TOP%2FSECRET2", key: "abc TOP/SECRET2") == "no <redacted>")
        #expect(try shown("no abc%20TOP%2fSECRET2 here", key: "abc TOP/SECRET2") == "no <redacted> here")
        #expect(try shown("TOPSECRET5?", key: "TopSecret5") == "<redacted>?")
        #expect(try shown("the token is bad", key: "strm?token=abcd1") == "the token is bad", "a name is no secret")
    }

    /// Bug: unreserved characters that a server percent-encodes were not matched, so the key was shown.
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
        // The key itself contains an escape.
        #expect(try shown("no abcd/e, abcd%2fe", key: "k1?token=abcd%2Fe") == "no <redacted>, <redacted>")
        #expect(try shown("no ab+cd ef", key: "ab cd+ef") == "no <redacted>")
        // Text that is not secret is shown as it was sent.
        #expect(try shown("100% of %41 %zz a+b", key: "k3y") == "100% of %41 %zz a+b")
    }

    /// Bug: a percent-encoded "+" of a key was shown, and so was a key after a percent sign.
    @Test func hidesKeysWithPercentAndPlus() throws {
        for spelling in ["TOP%2FSECRET", "TOP/SECRET", "TOP%252fSECRET", "T%4fP%2FSECRET"] {
            #expect(try shown("no \(spelling) 5%", key: "TOP%2FSECRET") == "no <redacted> 5%")
        }
        for spelling in ["TOP+SECRET", "TOP SECRET", "TOP%20SECRET", "TOP%2bSECRET"] {
            #expect(try shown("no \(spelling)", key: "TOP+SECRET") == "no <redacted>")
        }
        // A percent sign before the key makes its beginning look encoded.
        #expect(try shown("100%ABCSECRET", key: "ABCSECRET") == "100%<redacted>")
        #expect(try shown("50%25 of %zz%4", key: "ABCSECRET") == "50%25 of %zz%4", "the rest stays as it is")
    }

    /// Bug: characters that change the direction of writing reached the status.
    @Test func showsNoFormatCharacters() throws {
        let hidden = "\u{202e}\u{2066}\u{200b}\u{feff}\u{85}\u{9b}\u{2028}\u{2029}\u{ad}\u{e0041}"
        #expect(try shown("a\(hidden)b é 画") == "a" + String(repeating: " ", count: 10) + "b é 画")
    }

    @Test func isBoundedAndPrintable() throws {
        #expect(try shown("a\u{1b}[31m\nb") == "a [31m b")
        #expect(try shown(String(repeating: "x", count: 10_000)).count == ServerText.maximumCharacters)
    }
}
