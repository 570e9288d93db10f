import Testing
import UpcastClient

@testable import upcast_send

/// Promise: whoever sends learns of a dead server when it happens, once for each outage.
@Suite struct OutageReportTests {
    @Test func eachOutageIsToldOnce() {
        var report = OutageReport()
        let states: [(BroadcastState, String)] = [
            (.connecting(attempt: 1), "connecting"),
            (.reconnecting(in: .seconds(1)), "off air: cannot resolve"),
            (.reconnecting(in: .seconds(2)), "off air: cannot resolve, again"),
            (.curtainUp(.operator), "curtain"), (.curtainDown, ""),
            (.reconnecting(in: .seconds(4)), "off air: still"),
            (.live, "on air"), (.congested(late: .seconds(1)), "impaired"),
            (.degraded(reached: 1), "on air without one destination"),
            (.reconnecting(in: .seconds(1)), "off air: both"),
            (.live, "on air"), (.reconnecting(in: .seconds(1)), ""), (.draining(queued: .seconds(1)), "draining")
        ]
        #expect(
            states.compactMap { report.sentence($0.0, $0.1) } == [
                "off air: cannot resolve", "on air without one destination"
            ])
    }
}
