import Endpoints
import Testing

@Suite struct WebhookURLTests {
    @Test func partsOfAURL() throws {
        let url = try WebhookURL("https://Hooks.example.org/a/b?token=s3cret")
        #expect(url.isSecure && url.host == "Hooks.example.org" && url.port == 443)
        #expect(url.target == "/a/b?token=s3cret" && url.authority == "Hooks.example.org")
        let other = try WebhookURL("http://[::1]:8080")
        #expect(!other.isSecure && other.host == "::1" && other.port == 8080)
        #expect(other.target == "/" && other.authority == "[::1]:8080")
        #expect(try WebhookURL("http://h?a=b").target == "/?a=b")
        #expect(try WebhookURL("http://h:80/").authority == "h")
    }

    /// Services put their tokens into the path.
    @Test func descriptionsShowNoToken() throws {
        let url = try WebhookURL("https://h:1/s3cret?s3cret")
        var dumped = ""
        dump(url, to: &dumped)
        for text in ["\(url)", String(reflecting: url), dumped] { #expect(!text.contains("s3cret"), "\(text)") }
        #expect("\(url)" == "https://h:1")
    }

    @Test(arguments: [
        "", "h", "ftp://h/", "rtmp://h/app", "https://", "https:///path", "https://user:s3cret@h/", "https://h:0/",
        "https://h:s3cret/", "https://h/a b", "https://h/#s3cret", "https://h/ü", "https://h/\r\nHost: s3cret",
        "https://" + String(repeating: "s3cret", count: 400),
    ])
    func othersAreRefusedAndNotQuoted(text: String) {
        do throws(InvalidWebhookURL) {
            _ = try WebhookURL(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(!error.what.contains("s3cret") && !error.remedy.contains("s3cret"))
        }
    }
}
