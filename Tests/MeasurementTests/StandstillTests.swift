import Measurement
import MediaCore
import Testing

@Suite struct StandstillTests {
    @Test func whatIsLost() {
        var standstill = Standstill(now: .seconds(100), longestTurn: .seconds(5))
        func wake(_ began: Int64, _ now: Int64, limit: MediaTime?) -> MediaTime {
            standstill.wake(began: .milliseconds(began), now: .milliseconds(now), limit: limit)
        }
        #expect(wake(100_000, 101_000, limit: .seconds(1)) == .zero, "it has waited as long as it wanted")
        #expect(wake(101_020, 101_200, limit: .seconds(1)) == .zero, "something came")
        #expect(wake(101_200, 102_600, limit: .seconds(1)) == .zero, "a little late, as on a busy machine")
        #expect(wake(102_600, 132_600, limit: .seconds(1)) == .seconds(29), "stopped for half a minute")
        #expect(wake(134_600, 134_600, limit: .zero) == .zero, "others may have made a turn that long")
        #expect(wake(164_600, 164_700, limit: .seconds(1)) == .seconds(30), "stopped while it worked")
        #expect(wake(164_700, 500_000, limit: nil) == .zero, "nobody was late")
        #expect(wake(500_000, 501_000, limit: .seconds(1)) == .zero)
    }
}
