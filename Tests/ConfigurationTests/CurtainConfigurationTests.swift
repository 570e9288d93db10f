import Testing

@testable import Configuration

@Suite struct CurtainConfigurationTests {
    private func load(_ privacy: String) throws -> PrivacyConfiguration {
        try Configuration.load(text: Array("privacy:\n\(privacy)".utf8), path: "c.yaml", environment: [:]).privacy
    }

    @Test func linesAndLetters() throws {
        let text = try load(#"  curtain_text: "Gleich zurück\nà bientôt — ½""#).curtainText
        #expect(text == "Gleich zurück\nà bientôt — ½")
        // A letter and its mark, written one after the other.
        #expect(try load("  curtain_text: \"caf\u{65}\u{301}\"").curtainText == "café")
        #expect(try load("  curtain_text_color: \"#ff8000\"").curtainTextColor?.green == 0x80)
        #expect(try load("  curtain_text_color: \"\"").curtainTextColor == nil)
    }

    @Test(arguments: [
        ("curtain_text: \"wait 漢\"", "\"漢\" (U+6F22) cannot be drawn"),
        ("curtain_text: \"🎬\"", "\"🎬\" (U+1F3AC) cannot be drawn"),
        ("curtain_text: \"a\\tb\"", "\"?\" (U+0009) cannot be drawn"),
        ("curtain_text: \"a\\r\\nb\"", "\"??\" (U+000D U+000A) cannot be drawn"),
        (
            "curtain_style: picture",
            "curtain_style picture requires a picture; name a PNG or JPEG file in privacy.curtain_picture"
        ),
        ("curtain_text_color: red", "\"red\" is not a colour"),
    ]) func mistakesAreNamed(line: String, what: String) {
        let problems = ConfigurationErrorTests.problems("privacy:\n  \(line)\n")
        #expect(problems.count == 1 && problems[0].contains(what), "\(problems)")
    }

    @Test func twoHundredCharacters() throws {
        let text = String(repeating: "ä", count: 200)
        #expect(try load("  curtain_text: \(text)").curtainText == text)
        let problems = ConfigurationErrorTests.problems("privacy:\n  curtain_text: \(text)a\n")
        #expect(problems == ["c.yaml:2:17: privacy.curtain_text: the text has 201 characters; write at most 200"])
    }
}
