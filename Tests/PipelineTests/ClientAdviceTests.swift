import IngestProtocol
import MediaCore
import Testing

@testable import Pipeline

@Suite struct ClientAdviceTests {
    private typealias Destinations = ClientAdvice.Destinations
    private typealias Frames = ClientAdvice.Frames

    private func live(_ lag: Int64) -> Destinations {
        Destinations(publishing: 1, total: 1, serversPublishing: 1, servers: 1, lag: .milliseconds(lag))
    }
    private func tick(
        _ advice: inout ClientAdvice, _ destinations: Destinations, received: UInt64 = 0, wasted: UInt64 = 0
    ) -> StateMessage? {
        advice.tick(destinations, Frames(received: received, wasted: wasted), maxFrameRate: 30)
    }

    @Test func saysEachChangeOnce() {
        var advice = ClientAdvice()
        #expect(tick(&advice, Destinations(total: 1, servers: 1)) == nil)
        #expect(tick(&advice, live(0))?.state == .live)
        #expect(tick(&advice, live(100)) == nil)
        let congested = tick(&advice, live(600))
        #expect(congested?.state == .congested)
        #expect(congested?.value == 600)
        #expect(tick(&advice, live(900)) == nil)
        // Between the two thresholds the state stays, so that it does not flicker.
        #expect(tick(&advice, live(300)) == nil)
        #expect(tick(&advice, live(200))?.state == .live)
    }

    @Test func asksAClientThatIsTooFastToSlowDown() {
        var advice = ClientAdvice()
        _ = tick(&advice, live(0), received: 60)
        #expect(tick(&advice, live(0), received: 120, wasted: 35) == nil)
        #expect(tick(&advice, live(0), received: 180, wasted: 64) == nil)
        let message = tick(&advice, live(0), received: 240, wasted: 99)
        #expect(message?.state == .slowDown)
        // The frames of the best of three seconds, limited to the canvas's frame rate.
        #expect(message?.value == 30)
        #expect(tick(&advice, live(0), received: 300, wasted: 130) == nil)
        // A change of a destination does not revoke the state.
        #expect(advice.look(live(0)) == nil)
        #expect(tick(&advice, live(0), received: 330, wasted: 131)?.state == .live)
    }

    /// A client that was delayed for a second or two and then catches up is not too fast. A canvas of 30 frames/s
    /// cannot show the burst, but the client's average rate is not higher.
    @Test func aBurstAfterAStallIsNoReasonToSlowDown() {
        var advice = ClientAdvice()
        _ = tick(&advice, live(0), received: 30)
        #expect(tick(&advice, live(0), received: 31) == nil)
        // All waiting frames come at once, and only the newest is encoded. Later frames are late for a while.
        #expect(tick(&advice, live(0), received: 91, wasted: 59) == nil)
        #expect(tick(&advice, live(0), received: 121, wasted: 89) == nil)
        #expect(tick(&advice, live(0), received: 151, wasted: 89) == nil)
        // Two bursts are no reason either.
        #expect(tick(&advice, live(0), received: 152, wasted: 89) == nil)
        #expect(tick(&advice, live(0), received: 211, wasted: 147) == nil)
        #expect(tick(&advice, live(0), received: 241, wasted: 148) == nil)
    }

    @Test func aNewConnectionIsAnnouncedAgain() {
        var advice = ClientAdvice()
        #expect(advice.look(live(0))?.state == .live)
        #expect(advice.look(Destinations(total: 1, servers: 1)) == nil)
        #expect(advice.look(live(0))?.state == .live)
    }

    @Test func aLostConnectionIsToldWithTheTimeOfTheNextAttempt() {
        var advice = ClientAdvice()
        _ = advice.look(live(0))
        let message = advice.look(
            Destinations(
                total: 1, servers: 1, nextAttempt: .milliseconds(750), lost: "the server closed the connection"))
        #expect(message?.state == .reconnecting)
        #expect(message?.value == 750)
        #expect(message?.text == "off air: the server closed the connection")
        #expect(advice.look(live(0))?.state == .live)
    }

    /// Bug: with two destinations, the client did not learn that one had died while the other one lived.
    @Test func oneOfTwoThatDiesIsTold() {
        var advice = ClientAdvice()
        #expect(advice.look(Destinations(publishing: 2, total: 2, serversPublishing: 2, servers: 2))?.state == .live)
        let message = advice.look(
            Destinations(publishing: 1, total: 2, serversPublishing: 1, servers: 2, lost: "\"second\" is gone"))
        #expect(message?.state == .degraded)
        #expect(message?.value == 1)
        #expect(message?.text == "on air without one destination: \"second\" is gone")
        #expect(advice.look(Destinations(publishing: 2, total: 2, serversPublishing: 2, servers: 2))?.state == .live)
    }

    /// A second destination that connects for the first time is not a loss.
    @Test func oneThatIsNotYetConnectedIsNoLoss() {
        var advice = ClientAdvice()
        #expect(advice.look(Destinations(publishing: 1, total: 2, serversPublishing: 1, servers: 2))?.state == .live)
    }

    /// Bug: a client was told "live" while its only server was dead, because a recording went on beside it.
    @Test func aRecordingBesideADeadServerIsOffAir() {
        var advice = ClientAdvice()
        let message = advice.look(
            Destinations(
                publishing: 1, total: 2, serversPublishing: 0, servers: 1, nextAttempt: .seconds(2), lost: "gone"))
        #expect(message?.state == .reconnecting && message?.text == "off air: gone")
        // Where recordings are all there is, they are what the client is for.
        var recorder = ClientAdvice()
        let recording = recorder.look(Destinations(publishing: 1, total: 1))
        #expect(recording?.state == .live && recording?.text == "off air, recording: packets reach the destination")
    }
}
