import ControlProtocol
import Endpoints
import Foundation
import TestSupport
import Testing

@testable import Webhooks

/// Promise: whoever follows Standard Webhooks 1.0 can check a delivery.
@Suite struct WebhookSignatureTests {
    /// The example of the standard's reference libraries.
    @Test func theExampleOfTheStandard() throws {
        let secret = try WebhookSecret(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let headers = try #require(
            WebhookSignature.headers(
                id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
                body: Array(#"{"test": 2432232314}"#.utf8), secret: secret))
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers.map(\.value)[..<2] == ["msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"])
        #expect(headers[2].value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    /// A text without the prefix is the key itself.
    @Test func aPlainSecretIsTheKey() throws {
        let text = "a plain secret of more than 24 bytes"
        let plain = try WebhookSecret(Secret(text))
        #expect(plain.key == Array(text.utf8))
        #expect(try WebhookSecret(Secret("whsec_" + Base64.encode(Array(text.utf8)))).key == plain.key)
    }

    @Test(arguments: ["", "short", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64 not base64 not base64 not"])
    func weakSecretsAreRefusedAndNotQuoted(text: String) {
        do throws(InvalidWebhookSecret) {
            _ = try WebhookSecret(Secret(text))
            Issue.record("\(text) was accepted")
        } catch {
            #expect(text.isEmpty || text == "whsec_" || !error.description.contains(text))
        }
    }
}

@Suite struct WebhookMessageTests {
    private func message(_ value: String) -> WebhookMessage {
        WebhookMessage(
            number: 7,
            EventRecord(
                time: "2026-11-22T09:24:53.427Z", level: "notice", name: "air_state_changed",
                message: "air state changed",
                fields: [.init("state", .string(value)), .init("recording", .bool(true))]),
            instance: "studio-1")
    }

    @Test func theBodyIsOneJSONObject() throws {
        let message = message("off_air")
        #expect(message.id == "msg_7" && message.type == "air_state_changed")
        #expect(
            String(decoding: message.body(dropped: 3), as: UTF8.self) == #"{"type":"air_state_changed","#
                + #""timestamp":"2026-11-22T09:24:53.427Z","instance":"studio-1","level":"notice","#
                + #""message":"air state changed","data":{"state":"off_air","recording":true},"dropped":3}"#)
    }

    @Test func itIsShort() throws {
        let long = message(String(repeating: "x", count: 100_000)).body(dropped: 0)
        #expect(long.count <= WebhookMessage.maximumBytes + 32)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(long)) as? [String: Any])
        #expect(object["data"] as? [String: Bool] == ["too_long": true])
    }

    /// The oldest go, and are counted. What waits is bounded by number and by bytes.
    @Test func theQueueIsBounded() throws {
        var queue = WebhookQueue()
        for number in 0..<100 { queue.append(message("\(number)")) }
        #expect(queue.count == WebhookQueue.mostDeliveries && queue.dropped == 36)
        #expect(queue.next() == message("36"))
        let large = message(String(repeating: "x", count: 1_800))
        for _ in 0..<100 { queue.append(large) }
        #expect(queue.count * large.byteCount <= WebhookQueue.mostBytes && queue.count > 60)
        queue.dropAll()
        #expect(queue.count == 0 && queue.dropped == 36 + 163)
        #expect(queue.next() == nil)
    }
}
