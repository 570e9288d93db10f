import MediaCore
import Testing

@testable import Ingest

/// Promise: each wait for a client's bytes has its own limit, and a client that is late is told which.
@Suite struct ClientPatienceTests {
    private let patience = ClientPatience(
        settings: IngestServer.Settings(
            startTimeout: .seconds(5), messageTimeout: .seconds(10), idleTimeout: .seconds(60)))

    /// Of a client that was accepted at 100 s, and whose last byte came at 200 s.
    private func times(messageBegin: MediaTime = .seconds(190), payload: Int = 0) -> ClientPatience.Times {
        var times = ClientPatience.Times(accepted: .seconds(100))
        (times.lastByte, times.messageBegin, times.messagePayload) = (.seconds(200), messageBegin, payload)
        return times
    }

    @Test func theStartIsCountedFromAccept() {
        #expect(patience.deadline(.start, ClientPatience.Times(accepted: .seconds(100))) == .seconds(105))
        #expect(patience.deadline(.start, times()) == .seconds(105), "bytes do not prolong it")
        #expect(patience.sentence(.start) == "no started message within 5.000 s after connecting")
    }

    @Test(arguments: [
        // The whole message is due first, a second later for each whole MiB of payload.
        (began: 199, payload: 0, deadline: 209), (192, 0, 202), (192, (1 << 20) - 1, 202), (192, 1 << 20, 203),
        // Its next byte is due first.
        (192, 8 << 20, 210), (192, 9 << 20, 210), (199, 50 << 20, 210),
    ])
    func aMessageHasTwoLimits(began: Int64, payload: Int, deadline: Int64) {
        let times = times(messageBegin: .seconds(began), payload: payload)
        #expect(patience.deadline(.restOfMessage, times) == .seconds(deadline))
        #expect(patience.sentence(.restOfMessage).contains("10.000 s for its next byte"))
    }

    @Test func betweenMessagesOnlyTheIdleTimeoutCounts() {
        #expect(patience.deadline(.nextMessage, times(payload: 50 << 20)) == .seconds(260))
        #expect(patience.sentence(.nextMessage) == "no message for 60.000 s")
        let endless = ClientPatience(settings: IngestServer.Settings(idleTimeout: .zero))
        #expect(endless.deadline(.nextMessage, times()) == nil)
    }

    @Test func timeInWhichTheDaemonDidNotRunIsForgiven() {
        var later = times(messageBegin: .seconds(192))
        later.forgive(.seconds(30))
        for (awaited, deadline) in [(.start, 135), (.restOfMessage, 232), (.nextMessage, 290)]
            as [(ClientPatience.Awaited, Int64)]
        { #expect(patience.deadline(awaited, later) == .seconds(deadline)) }
    }
}
