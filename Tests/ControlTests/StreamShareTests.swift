import LinuxSystem
import Testing

@testable import Control

/// Promise: no user keeps the others from watching.
@Suite struct StreamShareTests {
    @Test func operatorsHaveTwoThatNobodyElseHas() {
        let connections = OpenConnections()
        func begin(_ owner: OpenConnections.StreamOwner, _ count: Int) -> Int {
            (0..<count).count { _ in connections.beginStream(for: owner, atMost: 8) }
        }
        #expect(begin(.user(1), 8) == 4)
        #expect(begin(.user(2), 8) == 2)
        #expect(begin(.operator, 8) == 2)
        #expect(begin(.operator, 1) == 0)
    }

    @Test func whoIsAnOperatorHasNoShare() {
        #expect(OpenConnections.StreamOwner(.operator) == .operator)
        let app = ControlPeer(
            roles: .capturedApp, credentials: .init(processID: 1, userID: 7, groupID: 7, otherGroups: []))
        #expect(OpenConnections.StreamOwner(app) == .user(7))
    }
}
