import Control
import ControlProtocol
import LinuxSystem
import Testing

@Suite struct ControlRoleTests {
    private func peer(_ user: UInt32, _ group: UInt32 = 500, _ others: [UInt32] = []) -> PeerCredentials {
        PeerCredentials(processID: 1, userID: user, groupID: group, otherGroups: others)
    }

    @Test func withoutListsEverybodyIsAnOperator() {
        #expect(ControlRoleTable.open.roles(of: peer(1234)) == .operator)
        #expect(ControlRoleTable.open.roles(of: nil) == .operator)
    }

    @Test func listsSayWhoIsWhat() {
        let table = ControlRoleTable(
            operators: .init(users: [10], groups: [20]), clients: .init(users: [11]),
            apps: .init(users: [11], groups: [21]), daemonUser: 99)
        #expect(table.roles(of: peer(10)) == .operator)
        #expect(table.roles(of: peer(12, 20)) == .operator)
        #expect(table.roles(of: peer(12, 500, [3, 20])) == .operator)
        #expect(table.roles(of: peer(11)) == [.captureClient, .capturedApp])
        #expect(table.roles(of: peer(12, 500, [21])) == .capturedApp)
        #expect(table.roles(of: peer(0)) == .operator)
        #expect(table.roles(of: peer(99)) == .operator)
        #expect(table.roles(of: peer(12)) == [])
        #expect(table.roles(of: nil) == [])
    }

    /// Such a number stands for many users, who could undo each other's.
    @Test func anUnknownUserIsInNoList() {
        let table = ControlRoleTable(
            operators: .init(users: [65_534], groups: [20]), clients: .init(users: [65_534]),
            apps: .init(groups: [65_534]), daemonUser: 65_534)
        #expect(table.roles(of: peer(65_534)) == [])
        #expect(table.roles(of: peer(65_534, 20, [20])) == [])
        #expect(table.roles(of: peer(11, 65_534, [65_534])) == [])
        #expect(ControlRoleTable.open.roles(of: peer(65_534)) == .operator)
    }

    /// One list is enough to close the rest.
    @Test func oneListClosesTheRest() {
        let table = ControlRoleTable(operators: nil, clients: nil, apps: .init(users: [11]), daemonUser: 99)
        #expect(table.roles(of: peer(11)) == .capturedApp)
        #expect(table.roles(of: peer(12)) == [])
    }

    @Test func routesAskForARole() {
        var routes = ControlRoutes.standard(status: { .init() }, readiness: { .ready })
        routes.add("GET", "/state", for: .all) { _ in .init(status: 200, json: .null) }
        routes.add("POST", "/stop") { _ in .init(status: 200, json: .null) }
        func status(_ method: String, _ path: String, _ roles: ControlRoles) -> Int {
            var request = ControlRequest(method: method, target: path)
            request.peer = ControlPeer(roles: roles, credentials: peer(11))
            guard case .response(let response) = routes.answer(to: request) else { return 0 }
            if response.status == 403 {
                #expect(String(decoding: response.body, as: UTF8.self).contains("user 11"))
            }
            return response.status
        }
        let table: [(String, String, none: Int, app: Int, client: Int, oper: Int)] = [
            ("GET", "/state", 403, 200, 200, 200), ("GET", "/status", 403, 403, 200, 200),
            ("POST", "/stop", 403, 403, 403, 200), ("GET", "/healthz", 200, 200, 200, 200),
        ]
        for (method, path, none, app, client, oper) in table {
            #expect(status(method, path, []) == none, "\(path)")
            #expect(status(method, path, .capturedApp) == app, "\(path)")
            #expect(status(method, path, .captureClient) == client, "\(path)")
            #expect(status(method, path, .operator) == oper, "\(path)")
        }
    }
}
