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

    @Test func isBoundedAndPrintable() throws {
        #expect(try shown("a\u{1b}[31m\nb") == "a [31m b")
        #expect(try shown(String(repeating: "x", count: 10_000)).count == ServerText.maximumCharacters)
    }
}
