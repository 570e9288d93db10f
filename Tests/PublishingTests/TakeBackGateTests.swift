import Glibc
import LinuxSystem
import MediaCore
import Testing

@testable import Publishing

@Suite struct TakeBackGateTests {
    private func packet(_ milliseconds: Int64, epoch: UInt32) -> PacketInfo {
        PacketInfo(
            track: .video, pts: .milliseconds(milliseconds), dts: .milliseconds(milliseconds), priority: .reference,
            epoch: epoch)
    }

    @Test func olderPacketsAreRefused() {
        let gate = TakeBackGate()
        #expect(gate.begin(packet(10, epoch: 0)))
        gate.end()
        #expect(gate.raise(to: 1) == .milliseconds(10))
        #expect(!gate.begin(packet(11, epoch: 0)))
        #expect(gate.begin(packet(12, epoch: 1)))
        #expect(gate.lastPTS == .milliseconds(12))
    }

    /// Only what is newer is taken back; and what was kept once is not kept when it is raised again.
    @Test func keepsWhatItIsToldTo() {
        let gate = TakeBackGate()
        #expect(gate.raise(to: 1, keeping: .milliseconds(100)) == nil)
        #expect(gate.begin(packet(100, epoch: 0)))
        gate.end()
        #expect(!gate.begin(packet(101, epoch: 0)))
        #expect(gate.raise(to: 2, keeping: .milliseconds(300)) == .milliseconds(100))
        #expect(!gate.begin(packet(90, epoch: 0)))
        #expect(gate.begin(packet(290, epoch: 1)))
    }

    /// A connection whose bytes are all of what may go out is not broken.
    @Test func breaksOnlyWhatHoldsThem() throws {
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { ends.forEach { close($0) } }
        let gate = TakeBackGate()
        gate.use(ends[0])
        #expect(gate.begin(packet(50, epoch: 0)))
        _ = gate.raise(to: 1, keeping: .milliseconds(60))
        #expect(!gate.isCut)
        gate.end()
        #expect(gate.begin(packet(70, epoch: 1)))
        _ = gate.raise(to: 2)
        #expect(gate.isCut)
        gate.use(nil)
    }
}
