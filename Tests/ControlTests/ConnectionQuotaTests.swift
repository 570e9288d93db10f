import LinuxSystem
import Testing

@testable import Control

/// Promise: no user takes all connections of the control socket.
@Suite struct ConnectionQuotaTests {
    private func owner(_ user: UInt32, _ roles: ControlRoles = []) -> ConnectionQuota.Owner {
        .init(
            ControlPeer(
                roles: roles, credentials: PeerCredentials(processID: 1, userID: user, groupID: user)))
    }

    /// How many connections of that owner fit.
    private func count(_ owner: ConnectionQuota.Owner, in quota: inout ConnectionQuota) -> Int {
        (0..<100).count { _ in quota.acquire(owner) }
    }

    @Test func usersWithoutARoleShareAFew() {
        var quota = ConnectionQuota(ControlLimits())
        #expect(count(owner(1), in: &quota) == 2)
        #expect(count(owner(2), in: &quota) == 2)
        #expect(count(owner(3), in: &quota) == 0)
        #expect(count(owner(4, .capturedApp), in: &quota) == 12)
        // A place that is free again is free for all.
        quota.release(owner(1))
        #expect(count(owner(3), in: &quota) == 1)
        // Three are left of 19.
        #expect(count(owner(5, .captureClient), in: &quota) == 3 && quota.isFull)
    }

    @Test func operatorsHaveNoShare() {
        var quota = ConnectionQuota(ControlLimits())
        #expect(count(owner(0, .operator), in: &quota) == 19)
        // Whoever was not taken leaves no gap.
        quota.release(owner(9))
        #expect(count(owner(0, .operator), in: &quota) == 0)
        for _ in 0..<19 { quota.release(owner(0, .operator)) }
        #expect(count(owner(4, .capturedApp), in: &quota) == 12)
    }
}
