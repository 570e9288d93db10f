import MediaCore
import SeededRandom
import Testing

@testable import Webhooks

@Suite struct WebhookAnswerTests {
    private func outcome(_ text: String) -> WebhookOutcome? {
        if case .done(let answer) = WebhookAnswer.parse(Array(text.utf8)[...]) { answer.outcome } else { nil }
    }

    @Test func statusesMeanWhatTheStandardSays() {
        #expect(outcome("HTTP/1.1 200 OK\r\n\r\n") == .delivered)
        #expect(outcome("HTTP/1.0 204\r\nA: b\r\n\r\nbody") == .delivered)
        #expect(outcome("HTTP/1.1 500 Oops\n\n") == .failed("the server answered 500"))
        #expect(
            outcome("HTTP/1.1 429 X\r\nretry-after:  17 \r\n\r\n")
                == .failed("the server answered 429", retryAfter: .seconds(17)))
        #expect(
            outcome("HTTP/1.1 503 X\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n")
                == .failed("the server answered 503"))
        guard case .gone = outcome("HTTP/1.1 410 Gone\r\n\r\n") else {
            Issue.record("410 is not the end")
            return
        }
        guard case .failed(let why, nil) = outcome("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\n\r\n") else {
            Issue.record("a redirect is no failure")
            return
        }
        #expect(why.contains("302") && why.contains("not followed") && !why.contains("10.0.0.1"))
    }

    @Test func interimAnswersAreSkipped() {
        #expect(outcome("HTTP/1.1 100 Continue\r\n\r\n") == nil)
        #expect(outcome("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n") == .delivered)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 999 OK\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1\r\n\r\n", "\r\n\r\n", "\u{16}\u{3}\u{1}",
    ])
    func whatIsNotHTTP(text: String) {
        guard case .broken = WebhookAnswer.parse(Array(text.utf8)[...]) else {
            Issue.record("\(text) was accepted")
            return
        }
    }

    @Test func headsAreBounded() {
        let endless = Array("HTTP/1.1 200 OK\r\nA: ".utf8) + [UInt8](repeating: 0x78, count: 9_000)
        guard case .broken(let why) = WebhookAnswer.parse(endless[...]) else {
            Issue.record("no bound")
            return
        }
        #expect(why.contains("too long"))
        // Interim answers count as well.
        let interim = Array(String(repeating: "HTTP/1.1 103 X\r\n\r\n", count: 500).utf8)
        guard case .broken = WebhookAnswer.parse(interim[...]) else {
            Issue.record("no bound")
            return
        }
    }

    /// Bytes of a hostile server: no crash, and the same result however they are cut.
    @Test func anythingMayCome() {
        var random = SplitMix64(seed: 3)
        let texts = ["HTTP/1.1 ", "200", " OK", "\r\n", "\n", ":", "Retry-After", " 5", "\0", "\u{fffd}"]
        let parts = texts.map { Array($0.utf8) }
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).flatMap { _ in
                parts[Int.random(in: 0..<parts.count, using: &random)]
            }
            let whole = WebhookAnswer.parse(bytes[...])
            for count in 0...bytes.count {
                let part = WebhookAnswer.parse(bytes[..<count])
                // Once something is decided, more bytes change nothing.
                if case .done = part { #expect(whole == part) }
            }
        }
    }
}
