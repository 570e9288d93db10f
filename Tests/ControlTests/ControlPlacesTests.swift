import LinuxSystem
import Testing

@testable import Control

/// Promise: nobody takes the places of others at the control socket.
@Suite struct ControlPlacesTests {
    private func visitor(_ user: UInt32, _ roles: ControlRoles = []) -> ControlPlaces.Visitor {
        .init(
            ControlPeer(
                roles: roles, credentials: PeerCredentials(processID: 1, userID: user, groupID: user)))
    }

    /// How many of that one find a place.
    private func count(_ visitor: ControlPlaces.Visitor, in places: inout ControlPlaces) -> Int {
        (0..<100).count { _ in places.take(visitor) }
    }

    @Test func usersWithoutARoleShareAFew() {
        var places = ControlPlaces(ControlLimits())
        #expect(count(visitor(1), in: &places) == 2)
        #expect(count(visitor(2), in: &places) == 2)
        #expect(count(visitor(3), in: &places) == 0)
        #expect(count(visitor(4, .capturedApp), in: &places) == 12)
        // A place that is free again is free for all.
        places.leave(visitor(1))
        #expect(count(visitor(3), in: &places) == 1)
        // Three are left of 19.
        #expect(count(visitor(5, .captureClient), in: &places) == 3 && places.isFull)
    }

    @Test func operatorsHaveNoShare() {
        var places = ControlPlaces(ControlLimits())
        #expect(count(visitor(0, .operator), in: &places) == 19)
        // Whoever was not taken leaves no gap.
        places.leave(visitor(9))
        #expect(count(visitor(0, .operator), in: &places) == 0)
        for _ in 0..<19 { places.leave(visitor(0, .operator)) }
        #expect(count(visitor(4, .capturedApp), in: &places) == 12)
    }
}
