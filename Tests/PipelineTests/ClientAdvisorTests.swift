import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Pipeline

/// Promise: the client learns what its broadcast does, from figures of the broadcast itself, and each change once.
@Suite struct ClientAdvisorTests {
    @Test func theFiguresOfABroadcast() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("advice")
            let broadcast = try Broadcast(recordingIn: folder)
            let messages = Monitor<[StateMessage]>([])
            let advisor = ClientAdvisor(broadcast, maxFrameRate: 25, clock: MonotonicClock()) { message in
                messages.withLock { $0.append(message) }
            }
            // Without the congestion that a slow disk causes, and the return to the state before it.
            var told: [StateMessage] {
                var (kept, isAfterCongestion) = ([StateMessage](), false)
                for message in messages.withLock({ $0 }) {
                    if message.state != .congested, !(isAfterCongestion && message.state == kept.last?.state) {
                        kept.append(message)
                    }
                    isAfterCongestion = message.state == .congested
                }
                return kept
            }
            var states: [BroadcastState?] { told.map(\.state) }
            advisor.look()
            #expect(states.isEmpty, "nothing has been sent")
            broadcast.clock.start()
            try waitFor("the recording to begin") {
                advisor.look()
                return states == [.live]
            }
            let live = told.first
            #expect(live?.text == "off air, recording: packets reach the destination")
            advisor.tick()
            for second in 1...4 {
                #expect(states == (second < 4 ? [.live] : [.live, .slowDown]), "after \(second - 1) s")
                broadcast.counters.framesReceived.add(60)
                broadcast.counters.framesAboveRate.add(30)
                advisor.tick()
            }
            // Thirty of sixty were used, and the canvas shows no more than 25.
            #expect(told.last?.value == 25)
            broadcast.counters.framesReceived.add(25)
            advisor.tick()
            #expect(states == [.live, .slowDown, .live])
            #expect(broadcast.close(deadline: MonotonicClock().now() + .seconds(15)))
        }
    }
}
