import MediaCore
import Testing

@testable import FaultProxy

/// Promise: a link carries its rate whenever bytes wait for it, and makes up for no fault.
@Suite struct LinkTests {
    private static let directions = [LinkCommand.Direction.up, .down]

    /// A link of 1000 bytes a millisecond for which bytes wait at 10 ms.
    private func busyLink(_ direction: LinkCommand.Direction) -> Link {
        let link = Link()
        link[direction].bucket.setRate(8_000_000, at: .zero)
        let allowance = link.allowance(direction, at: .milliseconds(10))
        carry(allowance, isAll: false, on: link, direction, at: .milliseconds(10))
        return link
    }

    private func carry(
        _ count: Int, isAll: Bool, on link: Link, _ direction: LinkCommand.Direction, at now: MediaTime
    ) {
        var bytes = [UInt8](repeating: 0, count: count)[...]
        link.carry(&bytes, isAll: isAll, direction, at: now)
    }

    @Test(arguments: directions) func theProxyIsLate(direction: LinkCommand.Direction) {
        let link = busyLink(direction)
        #expect(link.allowance(direction, at: .milliseconds(510)) == 500_000)
        carry(50_000, isAll: true, on: link, direction, at: .milliseconds(510))
        #expect(link.allowance(direction, at: .milliseconds(530)) == 20_000, "the sender has nothing more")
    }

    @Test(arguments: directions) func theLinkStoodStill(direction: LinkCommand.Direction) {
        let link = busyLink(direction)
        link.mode = .stalled
        link.resume(at: .seconds(5))
        #expect(link.mode == .passing)
        #expect(link.allowance(direction, at: .seconds(5)) == 0)
        #expect(link.allowance(direction, at: .milliseconds(5_010)) == 10_000)
    }

    @Test(arguments: directions) func theConnectionIsGone(direction: LinkCommand.Direction) {
        let link = busyLink(direction)
        link.rest(at: .milliseconds(20))
        #expect(link.allowance(direction, at: .seconds(5)) == 20_000)
    }
}
