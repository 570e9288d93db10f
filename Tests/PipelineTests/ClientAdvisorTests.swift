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
            let told = Monitor<[StateMessage]>([])
            let advisor = ClientAdvisor(broadcast, maxFrameRate: 25, clock: MonotonicClock()) { message in
                told.withLock { $0.append(message) }
            }
            // Without what a slow disk causes.
            var states: [BroadcastState] {
                told.withLock { $0.compactMap(\.state) }.filter { $0 != .congested }.reduce(into: []) { states, state in
                    if states.last != state { states.append(state) }
                }
            }
            advisor.look()
            #expect(states.isEmpty, "nothing has been sent")
            broadcast.clock.start()
            try waitFor("the recording to begin") {
                advisor.look()
                return states == [.live]
            }
            let live = told.withLock { $0.first { $0.state == .live } }
            #expect(live?.text == "off air, recording: packets reach the destination")
            advisor.tick()
            for second in 1...4 {
                #expect(states == (second < 4 ? [.live] : [.live, .slowDown]), "after \(second - 1) s")
                broadcast.counters.framesReceived.add(60)
                broadcast.counters.framesAboveRate.add(30)
                advisor.tick()
            }
            // Thirty of sixty were used, and the canvas shows no more than 25.
            #expect(told.withLock { $0.last?.value } == 25)
            broadcast.counters.framesReceived.add(25)
            advisor.tick()
            #expect(states == [.live, .slowDown, .live])
            #expect(broadcast.close(deadline: MonotonicClock().now() + .seconds(15)))
        }
    }
}
