import Buffering
import Endpoints
import LinuxSystem
import MediaCore
import Testing
import TestSupport

@testable import Publishing

/// Promise: a destination tries again after its delay, at once when it is asked or the broadcast stops, and not at all
/// when that is useless. Most delays here are 1,000 s: a wait that is not ended takes that long.
@Suite struct AttemptScheduleTests {
    private static let delay = MediaTime.seconds(1000)
    private static let lost = PublishError(.connectionLost, "the server closed the connection")

    private final class Rig {
        let clock = ManualClock(.seconds(50))
        let destination: Destination
        let schedule: AttemptSchedule
        let control: PublishControl
        let retry: RetrySignal
        private let events: Monitor<[DestinationEvent]>
        /// Called with each event, on the thread that waits.
        private let onEvent = Monitor<(@Sendable (DestinationEvent) -> Void)?>(nil)

        init(_ policy: ReconnectPolicy = ReconnectPolicy()) throws {
            let (events, onEvent) = (Monitor<[DestinationEvent]>([]), onEvent)
            self.events = events
            destination = try Destination.unstarted(policy, clock: clock) { event in
                events.withLock { $0.append(event) }
                onEvent.withLock { $0 }?(event)
            }
            control = try PublishControl(clock: clock)
            retry = try RetrySignal()
            schedule = AttemptSchedule(destination, control: control, retry: retry)
        }

        /// Does `body` when the schedule has reported the failure and is about to wait.
        func whenItWaits(_ body: @escaping @Sendable () -> Void) {
            onEvent.withLock { $0 = { if case .retrying = $0 { body() } } }
        }

        func wait(_ delay: MediaTime = AttemptScheduleTests.delay, flapping: Int? = nil) -> Bool {
            schedule.wait(delay, after: AttemptScheduleTests.lost, flapping: flapping)
        }

        var isTriedAsAsked: Bool { said.contains { $0.contains("as asked") } }

        var said: [String] {
            events.withLock { events in
                events.map { event in
                    switch event {
                    case .state(let state): state.rawValue
                    case .retrying(_, let attempt, let delay): "attempt \(attempt) after \(delay)"
                    case .flapping(_, let connections): "flapping \(connections)"
                    case .failed(let error): "failed: \(error)"
                    case .notice(let text), .warning(let text): text
                    }
                }
            }
        }
    }

    @Test func whatCannotSucceedIsNotTriedAgain() throws {
        let schedule = try Rig().schedule
        func isTried(_ cause: FailureCause, hasWorked: Bool) -> Bool {
            schedule.delay(after: PublishError(cause, "why"), hasWorked: hasWorked) != nil
        }
        for cause in FailureCause.allCases {
            let isForGood = [.credentials, .certificate, .rejected, .file, .secret].contains(cause)
            #expect(isTried(cause, hasWorked: false) == !isForGood, "\(cause)")
            #expect(isTried(cause, hasWorked: true) == (cause != .credentials), "\(cause)")
        }
    }

    @Test func theDelaysGrowUntilAConnectionHasLasted() throws {
        var policy = ReconnectPolicy()
        (policy.firstDelay, policy.growth, policy.maximumAttempts) = (.seconds(10), 4, 3)
        let schedule = try Rig(policy).schedule
        // Half of each delay is random.
        for longest in [10.0, 30, 30] {
            let delay = try #require(schedule.delay(after: Self.lost, hasWorked: true))
            #expect((longest / 2...longest).contains(delay.secondsAsDouble), "\(delay)")
        }
        #expect(schedule.attempt == 4)
        #expect(schedule.delay(after: Self.lost, hasWorked: true) == nil)
        schedule.noteConnection(lasting: policy.healthyAfter - .milliseconds(1))
        #expect(schedule.delay(after: Self.lost, hasWorked: true) == nil)
        schedule.noteConnection(lasting: policy.healthyAfter)
        #expect(schedule.attempt == 1 && schedule.delay(after: Self.lost, hasWorked: true) != nil)
    }

    @Test func aWaitIsReportedAndEndsWhenItIsAsked() throws {
        let rig = try Rig()
        rig.whenItWaits { [weak destination = rig.destination, retry = rig.retry] in
            #expect(destination?.snapshot.nextAttempt == .seconds(1050))
            #expect(destination?.snapshot.lastError?.consequence == "trying again in 1000.000 s")
            retry.signal()
        }
        #expect(rig.wait(flapping: 6))
        #expect(
            rig.said == [
                "reconnecting", "attempt 0 after 1000.000 s", "flapping 6",
                "\(rig.destination.title): trying again now, as asked",
            ])
        #expect(rig.destination.snapshot.nextAttempt == nil)
    }

    /// Somebody who asked while the connection still worked does not shorten a later wait.
    @Test func anOldRetryDoesNotCount() throws {
        let rig = try Rig()
        rig.retry.signal()
        #expect(rig.wait(.milliseconds(5)))
        #expect(!rig.isTriedAsAsked)
    }

    @Test func aStopCausesOneAttemptAtOnce() throws {
        let rig = try Rig()
        rig.whenItWaits { [destination = rig.destination] in destination.stop(deadline: .seconds(60)) }
        #expect(rig.wait())
        // The next one waits for its delay.
        rig.whenItWaits { [control = rig.control] in control.cancel() }
        #expect(!rig.wait())
    }

    @Test func aRetryDuringAStopChangesNothing() throws {
        let rig = try Rig()
        rig.destination.stop(deadline: .seconds(60))
        #expect(rig.wait())
        rig.whenItWaits { [retry = rig.retry] in retry.signal() }
        #expect(rig.wait(.milliseconds(5)))
        #expect(!rig.isTriedAsAsked)
    }

    @Test(arguments: [true, false]) func whoIsRemovedReportsNothingMore(leaves: Bool) throws {
        let rig = try Rig()
        if leaves { rig.destination.leave(deadline: .seconds(60)) } else { rig.destination.cancel() }
        #expect(!rig.wait(flapping: 3))
        #expect(rig.said.isEmpty)
    }
}

extension Destination {
    /// A destination whose thread the test plays.
    static func unstarted(
        _ policy: ReconnectPolicy = ReconnectPolicy(), clock: any TimeSource,
        onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) throws -> Destination {
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1/live")
        var settings = DestinationSettings(
            name: "main", kind: .rtmp(RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y"))))
        settings.reconnect = policy
        return Destination(
            index: 0, settings: settings, log: FLVFixture.log(), format: .smallest, clock: clock,
            onEvent: onEvent)
    }
}
