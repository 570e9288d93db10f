import LinuxSystem
import MediaCore
import Testing

@Suite struct PollTimeoutTests {
    @Test(arguments: [
        (Int64.min, CInt(0)), (-1, 0), (0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (Int64.max, CInt.max),
    ])
    func roundsUp(nanoseconds: Int64, milliseconds: CInt) {
        #expect(MediaTime(nanoseconds: nanoseconds).pollTimeout == milliseconds)
    }
}
