import ControlProtocol
import Endpoints
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Webhooks

/// Promise: events reach a server that works, whatever it did before, and one that does not work costs nobody anything.
@Suite(.endsWithin(120)) struct WebhookCenterTests {
    /// A center with one hook, and what it said of failures.
    private final class Rig: Sendable {
        let center = WebhookCenter(instance: "studio-1", clock: MonotonicClock())
        let told = Monitor<[DaemonEvent]>([])

        init(_ hooks: WebhookSettings...) throws {
            try center.prepare(hooks)
            try center.start { [told] event in told.signal { $0.append(event) } }
        }

        deinit { center.end(until: .zero) }

        func offer(_ number: UInt64, _ name: DaemonEvent.Name = .broadcastStarted) {
            center.offer(
                number: number,
                EventRecord(
                    time: "2026-11-22T09:24:53.427Z", level: "info", name: name.rawValue, message: "m",
                    fields: [.init("n", .integer(Int(number)))]))
        }

        /// Waits for the event of a delivery that was given up.
        func failure() throws -> (attempts: Int, why: String, now: String) {
            let event = told.wait(until: Patience.deadline(15)) { $0.isEmpty ? nil : $0.removeFirst() }
            guard case .webhookFailed(_, _, let attempts, let why, let now)? = event else {
                throw TestFailure("no failure was told: \(center.status)")
            }
            return (attempts, why, now)
        }

        func waitForDelivered(_ count: Int) throws {
            try waitFor("\(count) deliveries", evidence: { "\(self.center.status)" }) {
                center.status.allSatisfy { $0.delivered >= count }
            }
        }
    }

    private func hook(
        _ url: String, name: String = "hook", attempts: Int = 3, delay: MediaTime = .milliseconds(50),
        timeout: MediaTime = .seconds(10), allow: String = "127.0.0.1",
        events: [DaemonEvent.Name] = [.broadcastStarted, .broadcastEnded]
    ) throws -> WebhookSettings {
        var policy = AddressPolicy()
        let isAllowed = policy.allow(allow)
        #expect(isAllowed)
        var schedule = WebhookSchedule(maximumAttempts: attempts)
        schedule.firstDelay = delay
        let secret = WebhookSecret(key: [UInt8](repeating: 7, count: 32))
        return WebhookSettings(
            name: name, url: try WebhookURL(url), events: Set(events.map(\.rawValue)), timeout: timeout,
            schedule: schedule, policy: policy, readSecret: { secret })
    }

    @Test func anEventArrivesOnceAndSigned() throws {
        let server = try HookServer(.answer(204))
        let rig = try Rig(hook(server.url))
        rig.offer(41)
        rig.offer(42, .destinationLive)
        rig.offer(43, .broadcastEnded)
        try rig.waitForDelivered(2)
        let requests = server.requests
        #expect(requests.count == 2 && requests[0].line == "POST /hooks?token=s3cret HTTP/1.1")
        let json = try requests[0].json
        #expect(json["type"] as? String == "broadcast_started" && json["instance"] as? String == "studio-1")
        #expect((json["data"] as? [String: Int]) == ["n": 41] && json["dropped"] as? Int == 0)
        #expect(try requests[1].json["type"] as? String == "broadcast_ended")
        let headers = requests[0].headers
        #expect(headers["webhook-id"] == "msg_41" && headers["content-type"] == "application/json")
        #expect(headers["host"] == "127.0.0.1:\(server.port)" && headers["connection"] == "close")
        let timestamp = try #require(headers["webhook-timestamp"].flatMap { Int($0) })
        #expect(abs(timestamp - UnixTime.milliseconds / 1000) < 60)
        let expected = WebhookSignature.headers(
            id: "msg_41", timestamp: timestamp, body: requests[0].body,
            secret: WebhookSecret(key: [UInt8](repeating: 7, count: 32)))
        #expect(headers["webhook-signature"] == expected?.last?.value)
        let status = try #require(rig.center.status.first)
        #expect(status.delivered == 2 && status.failed == 0 && status.queued == 0 && status.lastError == nil)
        #expect(status.url == "http://127.0.0.1:\(server.port)")
    }

    /// Each kind of failure, then a server that works: the same id and body come again.
    @Test(arguments: [
        HookServer.Behaviour.answer(500), .answer(503, headers: ["Retry-After: 0"]), .reset, .close, .endlessHead,
        .answer(302, headers: ["Location: http://127.0.0.1:1/"]), .answer(404),
    ])
    func afterAFailureItComesAgain(behaviour: HookServer.Behaviour) throws {
        let server = try HookServer(behaviour, .answer(200))
        let rig = try Rig(hook(server.url))
        rig.offer(1)
        try rig.waitForDelivered(1)
        let requests = server.requests
        #expect(requests.count == 2 && requests[0].body == requests[1].body)
        #expect(requests.map { $0.headers["webhook-id"] } == ["msg_1", "msg_1"])
        #expect(rig.told.withLock { $0 }.isEmpty)
        #expect(rig.center.status.first?.lastError != nil)
    }

    @Test(arguments: [HookServer.Behaviour.hang, .deaf, .trickle])
    func aServerThatIsTooSlowIsLeft(behaviour: HookServer.Behaviour) throws {
        let server = try HookServer(behaviour, .answer(200))
        let rig = try Rig(hook(server.url, timeout: .milliseconds(300)))
        rig.offer(1)
        try rig.waitForDelivered(1)
        #expect(server.connections == 2)
        #expect(rig.center.status.first?.lastError?.contains("in time") == true, "\(rig.center.status)")
    }

    /// The head is what counts. Of a body without end, no more than its bound is read.
    @Test func aHugeBodyIsNotRead() throws {
        let server = try HookServer(.endlessBody, .answer(200))
        let rig = try Rig(hook(server.url))
        rig.offer(1)
        rig.offer(2)
        try rig.waitForDelivered(2)
        // Beside what was read, the kernels hold some.
        #expect(server.sent < 4 << 20)
    }

    @Test func aRedirectIsNotFollowed() throws {
        let other = try HookServer(.answer(200))
        let server = try HookServer(.answer(307, headers: ["Location: \(other.url)"]))
        let rig = try Rig(hook(server.url, attempts: 1))
        rig.offer(1)
        let failure = try rig.failure()
        #expect(failure.attempts == 1 && failure.why.contains("307") && failure.why.contains("not followed"))
        #expect(other.connections == 0 && !failure.why.contains("s3cret"))
    }

    @Test func aDeliveryIsGivenUpAfterTheLastAttempt() throws {
        let server = try HookServer(.answer(500), .answer(502), .answer(503), .answer(200))
        let rig = try Rig(hook(server.url, attempts: 3))
        rig.offer(1)
        rig.offer(2)
        let failure = try rig.failure()
        #expect(failure.attempts == 3 && failure.why == "the server answered 503")
        // The next one has attempts of its own.
        try rig.waitForDelivered(1)
        #expect(server.requests.map { $0.headers["webhook-id"] } == ["msg_1", "msg_1", "msg_1", "msg_2"])
        #expect(rig.center.status.first?.failed == 1)
    }

    @Test func aServerThatIsGoneGetsNothingMore() throws {
        let server = try HookServer(.answer(410))
        let rig = try Rig(hook(server.url))
        rig.offer(1)
        #expect(try rig.failure().now.contains("sends nothing there"))
        for number in 2..<10 { rig.offer(UInt64(number)) }
        let status = try #require(rig.center.status.first)
        #expect(status.queued == 0 && status.failed == 1 && status.dropped == 8)
        #expect(server.connections == 1)
    }

    /// The resolved address counts, not the name. Whoever listens there never hears of it.
    @Test(arguments: ["http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://[::ffff:127.0.0.1]:PORT/"])
    func privateAddressesAreRefused(url: String) throws {
        let server = try HookServer(.answer(200))
        let rig = try Rig(hook(url.replacing("PORT", with: "\(server.port)"), allow: "10.0.0.0/8"))
        rig.offer(1)
        let failure = try rig.failure()
        #expect(failure.attempts == 1 && failure.why.contains("a loopback address"), "\(failure)")
        #expect(failure.why.contains("allow_private"))
        #expect(server.connections == 0)
    }

    /// Whoever offers events does not wait, and what waits is bounded.
    @Test func aServerThatHangsHoldsNobodyUp() throws {
        let server = try HookServer(.hang)
        let rig = try Rig(hook(server.url, timeout: .seconds(60)), hook(server.url, name: "unused", events: []))
        rig.offer(0)
        try server.waitForConnections(1)
        let begin = MonotonicClock().now()
        for number in 1...10_000 { rig.offer(UInt64(number)) }
        let time = MonotonicClock().now() - begin
        #expect(time < .milliseconds(Int64(Patience.scaled(5_000))), "10000 events took \(time)")
        let status = try #require(rig.center.status.first)
        #expect(status.queued == 1 + WebhookQueue.mostDeliveries)
        #expect(status.dropped == 10_000 - WebhookQueue.mostDeliveries)
        // The end does not wait for it either.
        let end = MonotonicClock().now()
        rig.center.end(until: end + .milliseconds(100))
        #expect(MonotonicClock().now() - end < .milliseconds(Int64(Patience.scaled(5_000))))
    }

    /// The last events of a daemon still go out.
    @Test func whatWaitsIsDeliveredAtTheEnd() throws {
        let server = try HookServer(.answer(200))
        let rig = try Rig(hook(server.url))
        for number in 1...10 { rig.offer(UInt64(number)) }
        rig.center.end(until: Patience.deadline(15))
        #expect(server.requests.map { $0.headers["webhook-id"] } == (1...10).map { "msg_\($0)" })
    }

    /// A delivery that has failed has one more attempt, like those behind it.
    @Test func whatHasFailedIsTriedOnceMoreAtTheEnd() throws {
        let server = try HookServer(.answer(500), .answer(200), .answer(500))
        let rig = try Rig(hook(server.url, attempts: 9, delay: .seconds(600)))
        rig.offer(1)
        _ = try server.waitForRequests(1)
        try waitFor("the failure", evidence: { "\(rig.center.status)" }) { rig.center.status.first?.lastError != nil }
        rig.offer(2)
        rig.center.end(until: Patience.deadline(15))
        #expect(server.requests.map { $0.headers["webhook-id"] } == ["msg_1", "msg_1", "msg_2"])
        #expect(try rig.failure().attempts == 1, "the second one, which has had its attempt")
    }

    /// A hook that keeps its settings keeps its queue; another one ends, and its counters go on under its name.
    @Test func hooksAreReplaced() throws {
        let (old, kept, new) = (try HookServer(.hang), try HookServer(.answer(200)), try HookServer(.answer(200)))
        let rig = try Rig(hook(old.url, name: "a", timeout: .seconds(60)), hook(kept.url, name: "b"))
        rig.offer(1)
        rig.offer(2)
        try old.waitForConnections(1)
        _ = try kept.waitForRequests(2)
        try rig.center.replace(with: [hook(new.url, name: "a"), hook(kept.url, name: "b")]) { $0 == "b" }
        rig.offer(3)
        #expect(try new.waitForRequests(1).map { $0.headers["webhook-id"] } == ["msg_3"])
        try waitFor("the counters", evidence: { "\(rig.center.status)" }) {
            rig.center.status.sorted { $0.name < $1.name }.map(\.delivered) == [1, 3]
        }
        #expect(rig.center.status.first { $0.name == "a" }?.dropped == 2)
        try rig.center.replace(with: []) { _ in true }
        #expect(rig.center.status.isEmpty)
        rig.offer(4)
    }

    /// A hook that heard of its own failures would fail for ever.
    @Test func failuresOfHooksGoToNoHook() throws {
        let server = try HookServer(.answer(200))
        let rig = try Rig(hook(server.url, events: DaemonEvent.Name.allCases))
        rig.offer(1, .webhookFailed)
        rig.center.offer(
            number: 2,
            EventRecord(
                time: "", level: "warning", name: "repetitions_left_out", message: "m",
                fields: [.init("of", .string("webhook_failed"))]))
        rig.offer(3, .repetitionsLeftOut)
        #expect(try server.waitForRequests(1).map { $0.headers["webhook-id"] } == ["msg_3"])
        let report = DaemonEvent.webhookFailed(webhook: "a", of: "b", attempts: 1, why: "c", now: "d").report
        #expect(report.name.rawValue == "webhook_failed")
    }

    @Test func aSecretThatCannotBeReadIsReadAgain() throws {
        let server = try HookServer(.answer(200))
        let isThere = Monitor(false)
        var settings = try hook(server.url, attempts: 10)
        settings.readSecret = { () throws(WebhookSecretError) in
            guard isThere.withLock({ $0 }) else { throw WebhookSecretError("secret_file /x cannot be opened") }
            return WebhookSecret(key: [UInt8](repeating: 7, count: 32))
        }
        let rig = try Rig(settings)
        rig.offer(1)
        try waitFor("the failure") { rig.center.status.first?.lastError?.contains("secret_file /x") == true }
        #expect(server.connections == 0)
        isThere.withLock { $0 = true }
        try rig.waitForDelivered(1)
    }
}
