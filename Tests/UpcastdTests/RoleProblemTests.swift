import Configuration
import Control
import LinuxSystem
import Testing

@testable import upcastd

/// Role lists that cannot keep users apart are refused.
@Suite struct RoleProblemTests {
    private func configuration(apps: RoleMembers) -> Configuration {
        var configuration = Configuration()
        configuration.control.apps = apps
        return configuration
    }

    @Test func listsNeedANamespaceThatTellsUsersApart() {
        let lists = configuration(apps: RoleMembers(users: ["2001"]))
        #expect(lists.roleProblems(namespace: nil, daemonUser: 7).isEmpty)
        let problems = lists.roleProblems(namespace: "its user namespace maps only 2 users", daemonUser: 7)
        #expect(problems.map(\.key) == ["control.apps"])
        #expect(problems.first?.what.contains("cannot distinguish users: its user namespace maps only 2 users") == true)
        #expect(problems.first?.remedy.contains("no PrivateUsers=") == true)
        // Without lists nobody is told apart anyway.
        #expect(Configuration().roleProblems(namespace: "its user namespace maps only 2 users").isEmpty)
    }

    @Test func theDaemonNeedsAUserOfItsOwn() {
        let lists = configuration(apps: RoleMembers(users: ["2001"]))
        let problems = lists.roleProblems(namespace: nil, daemonUser: UserNamespace.overflowUser)
        #expect(problems.first?.what.contains("the daemon runs as user 65534") == true, "\(problems)")
    }

    @Test func theOverflowNumbersAreInNoList() {
        let members = RoleMembers(users: ["7", "65534"], groups: ["65534", "8"])
        let problems = configuration(apps: members).roleProblems(namespace: nil, daemonUser: 7)
        #expect(problems.count == 2)
        #expect(problems.first?.what.hasPrefix("user 65534 represents every user outside") == true)
        #expect(problems.last?.what.hasPrefix("group 65534 represents every group") == true)
    }

    @Test(.enabled(if: AccountNames.user("nobody") == UserNamespace.overflowUser))
    func soAreNamesThatMeanThem() {
        let problems = configuration(apps: RoleMembers(users: ["nobody"]))
            .roleProblems(namespace: nil, daemonUser: 7)
        #expect(problems.first?.what.hasPrefix("user nobody (65534) represents") == true, "\(problems)")
    }
}
