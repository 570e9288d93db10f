import LinuxSystem
import Testing

/// Users of another user namespace are unknown.
@Suite struct UserNamespaceTests {
    @Test(arguments: [
        "         0          0 4294967295\n", "0 0 4294967295", "0 0 1000\n1000 1000 4294966295\n",
        "1000 5000 4294966295\n0 0 1000\n",
    ])
    func aWholeMap(text: String) throws {
        #expect(try #require(IdentityMap(text)).isWhole)
    }

    @Test(arguments: [
        "", "0 0 1\n", "0 0 1\n65000 65000 1\n", "0 1000 1\n1 100000 65536\n", "0 0 4294967294\n", "1 0 4294967294\n",
        "0 0 1000\n1001 1001 4294966294\n",
    ])
    func aMapThatLacksSome(text: String) throws {
        #expect(try !#require(IdentityMap(text)).isWhole)
    }

    @Test(arguments: ["0 0", "0 0 x", "0 0 1 1", "-1 0 1", "0 0 4294967296", "0 0 10\n5 20 10\n", "all\n"])
    func whatIsNoMap(text: String) { #expect(IdentityMap(text) == nil) }

    @Test func theOverflowNumbersAreNobody() {
        let (user, group) = (UserNamespace.overflowUser, UserNamespace.overflowGroup)
        let peer = PeerCredentials(processID: 1, userID: user, groupID: group, otherGroups: [7, group])
        #expect(peer.userID == nil && peer.groupID == nil)
        #expect(peer.otherGroups == [7])
        let known = PeerCredentials(processID: 1, userID: 7, groupID: 8)
        #expect(known.userID == 7 && known.groupID == 8)
    }
}
