import IngestProtocol
import MediaCore
import Testing

@testable import Pipeline

@Suite struct ClientAdviceTests {
    private typealias Destinations = ClientAdvice.Destinations
    private typealias Frames = ClientAdvice.Frames

    private func live(_ lag: Int64) -> Destinations {
        Destinations(publishing: 1, total: 1, lag: .milliseconds(lag))
    }
    private func tick(
        _ advice: inout ClientAdvice, _ destinations: Destinations, received: UInt64 = 0, wasted: UInt64 = 0
    ) -> StateMessage? {
        advice.tick(destinations, Frames(received: received, wasted: wasted), maxFrameRate: 30)
    }

    @Test func saysEachChangeOnce() {
        var advice = ClientAdvice()
        #expect(tick(&advice, Destinations(total: 1)) == nil)
        #expect(tick(&advice, live(0))?.state == .live)
        #expect(tick(&advice, live(100)) == nil)
        let congested = tick(&advice, live(600))
        #expect(congested?.state == .congested)
        #expect(congested?.value == 600)
        #expect(tick(&advice, live(900)) == nil)
        // Between the two thresholds nothing changes: no flicker.
        #expect(tick(&advice, live(300)) == nil)
        #expect(tick(&advice, live(200))?.state == .live)
    }

    @Test func asksAClientThatIsTooFastToSlowDown() {
        var advice = ClientAdvice()
        _ = tick(&advice, live(0), received: 60)
        let message = tick(&advice, live(0), received: 120, wasted: 30)
        #expect(message?.state == .slowDown)
        #expect(message?.value == 30)
        // A destination that changes in between takes nothing back.
        #expect(advice.look(live(0)) == nil)
        #expect(tick(&advice, live(0), received: 150, wasted: 31)?.state == .live)
    }

    @Test func aNewConnectionIsAnnouncedAgain() {
        var advice = ClientAdvice()
        #expect(advice.look(live(0))?.state == .live)
        #expect(advice.look(Destinations(total: 1)) == nil)
        #expect(advice.look(live(0))?.state == .live)
    }

    @Test func aLostConnectionIsToldWithTheTimeOfTheNextAttempt() {
        var advice = ClientAdvice()
        _ = advice.look(live(0))
        let message = advice.look(
            Destinations(total: 1, nextAttempt: .milliseconds(750), lost: "the server closed the connection"))
        #expect(message?.state == .reconnecting)
        #expect(message?.value == 750)
        #expect(message?.text == "the server closed the connection")
        #expect(advice.look(live(0))?.state == .live)
    }

    /// Bug: with two destinations a client did not hear that one had died as long as the other lived.
    @Test func oneOfTwoThatDiesIsTold() {
        var advice = ClientAdvice()
        #expect(advice.look(Destinations(publishing: 2, total: 2))?.state == .live)
        let message = advice.look(Destinations(publishing: 1, total: 2, lost: "\"second\" is gone"))
        #expect(message?.state == .degraded)
        #expect(message?.value == 1)
        #expect(message?.text == "\"second\" is gone")
        #expect(advice.look(Destinations(publishing: 2, total: 2))?.state == .live)
    }

    /// While the second is still being connected for the first time there is nothing to complain about.
    @Test func oneThatIsNotYetConnectedIsNoLoss() {
        var advice = ClientAdvice()
        #expect(advice.look(Destinations(publishing: 1, total: 2))?.state == .live)
    }
}
