import IngestProtocol
import MediaCore
import Testing

@testable import Pipeline

@Suite struct ClientAdviceTests {
    private func figures(_ backlog: Int64, received: UInt64 = 0, wasted: UInt64 = 0) -> ClientAdvice.Figures {
        ClientAdvice.Figures(
            isPublishing: true, backlog: .milliseconds(backlog), framesReceived: received, framesWasted: wasted)
    }

    @Test func saysEachChangeOnce() {
        var advice = ClientAdvice()
        #expect(advice.advise(ClientAdvice.Figures(), maxFrameRate: 30) == nil)
        #expect(advice.advise(figures(0), maxFrameRate: 30)?.state == .live)
        #expect(advice.advise(figures(100), maxFrameRate: 30) == nil)
        let congested = advice.advise(figures(600), maxFrameRate: 30)
        #expect(congested?.state == .congested)
        #expect(congested?.value == 600)
        #expect(advice.advise(figures(900), maxFrameRate: 30) == nil)
        // Between the two thresholds nothing changes: no flicker.
        #expect(advice.advise(figures(300), maxFrameRate: 30) == nil)
        #expect(advice.advise(figures(200), maxFrameRate: 30)?.state == .live)
    }

    @Test func asksAClientThatIsTooFastToSlowDown() {
        var advice = ClientAdvice()
        _ = advice.advise(figures(0, received: 60, wasted: 0), maxFrameRate: 30)
        let message = advice.advise(figures(0, received: 120, wasted: 30), maxFrameRate: 30)
        #expect(message?.state == .slowDown)
        #expect(message?.value == 30)
        #expect(advice.advise(figures(0, received: 150, wasted: 31), maxFrameRate: 30)?.state == .live)
    }

    @Test func aNewConnectionIsAnnouncedAgain() {
        var advice = ClientAdvice()
        #expect(advice.advise(figures(0), maxFrameRate: 30)?.state == .live)
        #expect(advice.advise(ClientAdvice.Figures(), maxFrameRate: 30) == nil)
        #expect(advice.advise(figures(0), maxFrameRate: 30)?.state == .live)
    }
}
