import Encoding
import LinuxSystem
import MediaCore
import Privacy
import TestSupport
import Testing

@testable import Pipeline

@Suite struct SnapshotBoothTests {
    private static let canvas = CanvasFormat(width: 64, height: 36, frameRate: FrameRate(30))

    /// An encoder that waits until the test opens it.
    private final class Gate: Sendable {
        let state = Monitor((hasBegun: false, isOpen: false))
        func encode() -> [UInt8] {
            state.signal { $0.hasBegun = true }
            _ = state.wait(until: Patience.deadline(20)) { $0.isOpen ? true : nil }
            return [1]
        }
    }

    /// A raise of the curtain does not wait while a file is being encoded, and nobody gets that file.
    @Test func forgettingWaitsForNoEncoder() async throws {
        try await blocking {
            let gate = Gate()
            let booth = SnapshotBooth(Self.canvas, size: 64, clock: MonotonicClock(), encode: { _ in gate.encode() })
            let picture = Picture(width: 64, height: 36)
            #expect(try booth.file() == nil)
            booth.pass(picture, epoch: 0, regions: .first)
            let result = Monitor<[UInt8]??>(nil)
            let asker = try WorkerThread(name: "test-asker") {
                let file = try? booth.file()
                result.signal { $0 = .some(file) }
            }
            #expect(gate.state.wait(until: Patience.deadline(20)) { $0.hasBegun ? true : nil } == true)
            // With a lock around the encoder, this would wait for the encoder, which waits for the next line.
            booth.forget(before: 1)
            #expect(!gate.state.withLock { $0.isOpen })
            // The picture that is passed now is not written to the copy that is being read.
            booth.pass(picture, epoch: 1, regions: .first)
            gate.state.signal { $0.isOpen = true }
            let file = result.wait(until: Patience.deadline(20)) { $0 }
            asker.join()
            #expect(file == .some(nil))
            #expect(booth.lastFile == nil)
            // The next request gets a picture that is shown now.
            #expect(try booth.file() == nil)
            booth.pass(picture, epoch: 1, regions: .first)
            #expect(try booth.file() == [1])
        }
    }
}
