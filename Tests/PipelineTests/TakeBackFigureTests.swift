import Buffering
import LinuxSystem
import MediaCore
import Testing

@testable import Pipeline

/// Promise: an encoder's thread that has seen a raise goes on from the figure of that raise or a later one, and from no
/// earlier one.
@Suite struct TakeBackFigureTests {
    /// Waits on another thread.
    private func waiting(_ figure: TakeBackFigure, for epoch: CurtainEpoch) throws -> () -> TakenBack? {
        let result = Monitor<TakenBack??>(nil)
        let thread = try WorkerThread(name: "test-figure") {
            let found = figure.wait(for: epoch)
            result.withLock { $0 = .some(found) }
        }
        return {
            thread.join()
            return result.withLock { $0 } ?? nil
        }
    }

    @Test func theFigureOfTheRaiseOrALaterOne() throws {
        let figure = TakeBackFigure()
        #expect(figure.lastKeptPTS == nil)
        figure.leave(TakenBack(lastVideo: .seconds(1)), of: 1)
        let result = try waiting(figure, for: 2)
        var kept = TakenBack(lastVideo: .seconds(2))
        kept.lastKeptPTS = .seconds(3)
        figure.leave(kept, of: 2)
        #expect(result()?.lastVideo == .seconds(2))
        #expect(figure.lastKeptPTS == .seconds(3))
        figure.leave(TakenBack(lastVideo: .seconds(5)), of: 3)
        #expect(figure.wait(for: 2)?.lastVideo == .seconds(5))
        #expect(figure.wait(for: 1)?.lastVideo == .seconds(5))
    }

    @Test func theEndOfTheBroadcast() throws {
        let figure = TakeBackFigure()
        figure.leave(TakenBack(lastVideo: .seconds(1)), of: 1)
        let result = try waiting(figure, for: 2)
        figure.end()
        #expect(result() == nil)
        #expect(figure.wait(for: 1)?.lastVideo == .seconds(1), "what is known is known")
    }
}
