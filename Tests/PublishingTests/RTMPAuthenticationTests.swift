import Endpoints
import MediaCore
@testable import Publishing
import Testing

@Suite struct RTMPAuthenticationTests {
    private static let bob = RTMPCredentials(user: Secret("bob"), password: Secret("pass w%rd"))

    private func authentication(_ credentials: RTMPCredentials? = bob) -> RTMPAuthentication {
        RTMPAuthentication(credentials, nonce: { 0xdead_beef })
    }

    private func asked(_ method: String) -> String {
        "[ AccessManager.Reject ] : [ code=403 need auth; authmod=\(method) ] : "
    }
    private func challenge(_ method: String, _ fields: String) -> String {
        "[ AccessManager.Reject ] : [ authmod=\(method) ] : ?reason=needauth&user=bob&\(fields) "
    }

    /// The vectors come from Python: base64(md5(base64(md5(user + salt + password)) + opaque + nonce)).
    @Test(arguments: [
        ("salt=SaLt+/=&challenge=ch4l=&opaque=op4qu3==", "response=aOPf56jlIEQLA0hKf5K7Ig==&opaque=op4qu3=="),
        ("opaque=op4qu3==&salt=SaLt+/=", "response=aOPf56jlIEQLA0hKf5K7Ig==&opaque=op4qu3=="),
        ("salt=SaLt+/=&challenge=ch4l=", "response=eYdco0IhYBNmnquJcDEC7w=="),
    ])
    func adobe(fields: String, response: String) throws {
        var authentication = authentication()
        #expect(try authentication.answer(to: asked("adobe"), app: "live") == "authmod=adobe&user=bob")
        #expect(
            try authentication.answer(to: challenge("adobe", fields), app: "live")
                == "authmod=adobe&user=bob&challenge=deadbeef&\(response)")
    }

    /// The digest covers the application with its instance ("_definst_" if it names none) and without its query.
    @Test(arguments: [
        ("live", "58c9863974d01fc3e5c11b5cc3191437"), ("live?token=a/b", "58c9863974d01fc3e5c11b5cc3191437"),
        ("live/inst", "3337c0174595653dc01285e3c0b9375c"),
    ])
    func limelight(app: String, response: String) throws {
        var authentication = authentication()
        #expect(try authentication.answer(to: asked("llnw"), app: app) == "authmod=llnw&user=bob")
        #expect(
            try authentication.answer(to: challenge("llnw", "nonce=n0nce="), app: app)
                == "authmod=llnw&user=bob&nonce=n0nce=&cnonce=deadbeef&nc=00000001&response=\(response)")
    }

    private func failure(
        _ descriptions: String..., credentials: RTMPCredentials? = bob
    ) -> RTMPAuthentication.Failure? {
        var authentication = authentication(credentials)
        for description in descriptions {
            do { _ = try authentication.answer(to: description, app: "live") } catch { return error }
        }
        return nil
    }

    /// A wrong password ends the login after one answer, even if the server continues to ask.
    @Test func wrongCredentialsEndIt() {
        let again = challenge("adobe", "salt=s&challenge=c")
        #expect(failure(asked("adobe"), again) == nil)
        #expect(failure(asked("adobe"), asked("adobe")) == .refused)
        #expect(failure(asked("adobe"), again, again) == .refused)
        #expect(failure(asked("adobe"), again, asked("adobe")) == .refused)
        for reason in ["authfailed", "authfail", "nosuchuser"] {
            #expect(failure("[ authmod=adobe ] : ?reason=\(reason)&opaque=x") == .refused)
        }
        #expect(failure(asked("llnw"), credentials: nil) == .missingCredentials)
    }

    @Test func challengesThatCannotBeAnswered() {
        #expect(failure(challenge("adobe", "challenge=c")) == .badChallenge("it has no salt"))
        #expect(failure(challenge("llnw", "salt=s&nonce=")) == .badChallenge("it has no nonce"))
        #expect(failure("authmod=adobe") == .badChallenge("it names no challenge"))
        let long = challenge("adobe", "salt=" + String(repeating: "s", count: 3000))
        #expect(failure(long) == .badChallenge("it is too long"))
        #expect(!RTMPAuthentication.isAsked(by: "[ AccessManager.Reject ] : [ authmod=other ]"))
    }

    @Test func userInfoIsDecodedOnce() {
        func parts(_ text: String) -> [String]? {
            RTMPCredentials(Secret(text)).map { [$0.user.revealed, $0.password.revealed] }
        }
        #expect(parts("bob:secret") == ["bob", "secret"])
        #expect(parts("bob:a:b") == ["bob", "a:b"])
        #expect(parts("b%3Ao%40b:%2F%3f%23%25") == ["b:o@b", "/?#%"])
        #expect(parts("bob:100%:%zz%4") == ["bob", "100%:%zz%4"])
        #expect(parts("bob:%2525") == ["bob", "%25"])
        #expect(parts("%C3%A9:\u{e9}") == ["\u{e9}", "\u{e9}"])
        for text in ["bob", "bob:", ":secret", "", "bob:%ff"] { #expect(parts(text) == nil, "\(text)") }
    }
}
