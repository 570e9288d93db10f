import Configuration
import Control
import ControlProtocol
import Endpoints
import Foundation
import LinuxSystem
import Logging
import MediaCore
import Pipeline
import TestSupport
import Testing

@testable import Webhooks
@testable import upcastd

@Suite struct WebhookTests {
    private func configuration(_ urls: String..., secret: String = "/s") throws -> Configuration {
        var configuration = Configuration()
        configuration.webhooks = try urls.enumerated().map { index, url in
            var hook = WebhookConfiguration()
            (hook.name, hook.url, hook.secretFile) = ("hook\(index)", try WebhookURL(url), secret)
            return hook
        }
        return configuration
    }

    /// The plan is made two rows below the webhooks, which know what they hold.
    @Test func thePlanHasRoomForWhatAHookHolds() throws {
        let none = Configuration().memoryPlan.totalBytes
        let one = try configuration("http://h/").memoryPlan
        #expect(one.totalBytes - none >= WebhookCenter.memoryBytes)
        #expect(try configuration("https://h/").memoryPlan.totalBytes - one.totalBytes == 300_000)
        // Hooks cost the picture nothing at the default cap.
        let all = try configuration("https://h/", "https://i/", "https://j/", "https://k/").memoryPlan
        #expect(all.fits && all.compromise == nil)
        #expect(Configuration.maxWebhooks == WebhookCenter.mostHooks)
    }

    /// What `/events` has, a webhook has with the same number.
    @Test func eventsOfTheLogAreOffered() throws {
        let server = try HookServer(.answer(200))
        let folder = try TemporaryDirectory("hooks")
        let secret = try folder.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", to: "secret")
        var configuration = try configuration(server.url, secret: secret)
        _ = configuration.webhooks[0].allowPrivate.allow("127.0.0.1")
        configuration.webhooks[0].events = EventList([.airStateChanged])
        let center = WebhookCenter(instance: HostName.current, clock: MonotonicClock())
        try center.prepare(configuration.webhookSettings(environment: [:]))
        let journal = EventJournal(after: 1000)
        let logger = Logger(label: "test") { _ in EventLog(journal, webhooks: center) }
        // Before the threads run.
        logger.tell(.noDestinationIsLeft)
        logger.tell(.airStateChanged(state: .offAir, previous: .onAir, isRecording: true))
        try center.start { logger.tell($0) }
        let request = try #require(try server.waitForRequests(1).first)
        center.end(until: Patience.deadline(15))
        #expect(server.requests.count == 1 && request.headers["webhook-id"] == "msg_1002")
        let data = try #require(try request.json["data"] as? [String: Any])
        #expect(data["state"] as? String == "off_air" && data["recording"] as? Bool == true && data.count == 3)
        #expect(try request.json["instance"] as? String == HostName.current)
    }

    /// `--check-config` tells of a secret that no delivery can be signed with, and does not show it.
    @Test func weakSecretsAreFound() throws {
        let folder = try TemporaryDirectory("hooks")
        func problems(_ secret: String) throws -> [String] {
            let configuration = try configuration("http://h/", secret: try folder.write(secret, to: "secret"))
            let places = ConfigurationPlaces()
            return (configuration.webhookProblems(environment: [:], places: places)
                + configuration.problemsOnThisMachine(environment: [:], places: places))
                .map(\.description).filter { $0.contains("webhooks[0].secret_file") }
        }
        #expect(try problems("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").isEmpty)
        #expect(try problems("s3cret").count == 1 && !problems("s3cret").joined().contains("s3cret"))
        #expect(try problems("").count == 1)
    }
}
