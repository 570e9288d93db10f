import Control
import ControlClient
import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import upcastctl

/// How upcastctl finds the daemons of a machine.
@Suite struct InstanceTests {
    private let folder: TemporaryDirectory
    private var instances: InstanceFolder { InstanceFolder(path: folder.path) }

    init() throws { folder = try TemporaryDirectory("instances") }

    /// Leaves a socket at which nobody listens.
    private func leaveSocket(_ name: String) throws {
        let path = folder.file(name)
        let parent = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        _ = try UnixSocket.listen(path: path, mode: 0o600)
    }

    private func names() -> [String] { instances.all.map(\.name) }

    private func clientError(_ body: () throws -> Void) throws -> ControlClientError {
        try #require(#expect(throws: ControlClientError.self, performing: body))
    }

    @Test func nothing() throws {
        #expect(InstanceFolder(path: folder.file("none")).all == [])
        let error = try clientError { _ = try instances.only() }
        guard case .noSocket(let sentence) = error else { throw TestFailure("\(error)") }
        #expect(sentence.contains("\(folder.path)/NAME/control.sock") && sentence.contains("systemctl start"))
        #expect(try clientError { _ = try instances.named("main") }.description.contains("no instances in"))
    }

    @Test func whatIsAnInstance() throws {
        try leaveSocket("main/control.sock")
        try leaveSocket("control.sock")
        try leaveSocket("capture.sock")
        // A capture socket of systemd's without a daemon, and one with it.
        try leaveSocket("waits.sock")
        try leaveSocket("main.sock")
        // Neither an empty folder nor a file in the socket's place.
        try FileManager.default.createDirectory(atPath: folder.file("empty"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.file("file"), withIntermediateDirectories: true)
        try folder.write("", to: "file/control.sock")
        #expect(
            instances.all == [
                Instance(name: "default", socket: folder.file("control.sock")),
                Instance(name: "main", socket: folder.file("main/control.sock")),
                Instance(name: "waits", socket: folder.file("waits/control.sock"), isWaiting: true),
            ])
        #expect(try instances.named("main").socket == folder.file("main/control.sock"))
        #expect(try instances.named("default").socket == folder.file("control.sock"))
        #expect(try clientError { _ = try instances.named("mian") }.description.contains("did you mean \"main\"?"))
        #expect(try clientError { _ = try instances.named("../x") }.description.contains("there is default, main"))
        let waiting = try clientError { _ = try instances.named("waits") }
        #expect(waiting.description.contains("systemctl start upcastd@waits"))
    }

    /// The folder of an instance with the name of the plain one.
    @Test func twoOfOneName() throws {
        try leaveSocket("default/control.sock")
        try leaveSocket("control.sock")
        #expect(names() == [folder.file("control.sock"), "default"])
        #expect(try instances.named("default").socket == folder.file("default/control.sock"))
    }

    @Test func theOnlyOne() throws {
        try leaveSocket("main/control.sock")
        try leaveSocket("waits.sock")
        // Nobody listens, which connecting tells better.
        #expect(try instances.only().name == "main")
        try leaveSocket("backup/control.sock")
        #expect(try instances.only { $0.name == "backup" }.name == "backup")
        let several = #expect(throws: UsageError.self) { _ = try instances.only { _ in true } }
        #expect(
            several?.description
                == "several daemons run here: backup, main; choose one with -i NAME or UPCAST_INSTANCE")
        guard case .nobodyListens(let sentence) = try clientError({ _ = try instances.only() }) else {
            throw TestFailure("not the case of stale sockets")
        }
        #expect(sentence.contains("backup, main"))
    }

    @Test func onlyWaiting() throws {
        try leaveSocket("a.sock")
        #expect(try clientError { _ = try instances.only() }.description.contains("systemctl start upcastd@a"))
        try leaveSocket("b.sock")
        #expect(try clientError { _ = try instances.only() }.description.contains("upcastd@a, upcastd@b are not"))
    }

    @Test func listening() throws {
        try leaveSocket("stale/control.sock")
        try FileManager.default.createDirectory(atPath: folder.file("live"), withIntermediateDirectories: true)
        let listener = try UnixSocket.listen(path: folder.file("live/control.sock"), mode: 0o600)
        #expect(try instances.only().name == "live")
        withExtendedLifetime(listener.raw) {}
    }

    // MARK: The list

    private func report(_ name: String, _ answer: InstanceReport.Answer) -> InstanceReport {
        InstanceReport(instance: Instance(name: name, socket: "/s/\(name)"), answer: answer)
    }

    @Test func aTable() {
        var status = StatusReport.full
        status.client?.name = "kiosk\u{1B}[2J"
        let text = InstanceTable.text(
            [
                report("main", .status(status.json)), report("idle", .status(StatusReport().json)),
                report("gone", .failure(.nobodyListens("nothing listens at /s/gone"))),
                report("slow", .failure(.unanswered("no answer within 1 s"))), report("next", .waiting),
            ], columns: .max)
        let expected = """
            NAME  STATE        SINCE             CLIENT      DESTINATIONS
            main  impaired     12 min 2 s ago    kiosk?[2J   main congested, recording live
            idle  idle         0 s ago           -           none
            gone  stale        -                 -           -
              nothing listens at /s/gone
            slow  no answer    -                 -           -
              no answer within 1 s
            next  not started  -                 -           -
              systemd starts it for the first client, or: systemctl start upcastd@next

            """
        func squeezed(_ text: String) -> String { text.replacing(/[ ]{2,}/, with: "  ") }
        #expect(squeezed(text) == squeezed(expected), "\n\(text)")
        for columns in [1, 10, 40, 80] {
            let narrow = InstanceTable.text([report("main", .status(status.json))], columns: columns)
            let lines = narrow.split(separator: "\n")
            #expect(lines.allSatisfy { TerminalText.width(String($0)) <= columns })
        }
    }

    @Test func aListAsJSON() throws {
        let json = InstanceTable.json([
            report("main", .status(StatusReport.full.json)), report("gone", .failure(.noSocket("no socket"))),
            report("next", .waiting),
        ])
        guard case .array(let all) = json["instances"], all.count == 3 else { throw TestFailure("\(json)") }
        #expect(all[0]["name"] == .string("main") && all[0]["state"] == .string("live"))
        #expect(all[0]["air"]?["state"] == .string("impaired") && all[0]["socket"] == .string("/s/main"))
        #expect(all[1]["state"] == .null && all[1]["error"]?["code"] == .string("unreachable"))
        #expect(all[2]["state"] == .string("not_started"))
    }

    /// Several at once: one that takes connections and says nothing does not keep the others waiting.
    @Test(.endsWithin(60)) func aSurvey() throws {
        for name in ["hangs1", "hangs2", "main"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        try leaveSocket("stale/control.sock")
        let first = try UnixSocket.listen(path: folder.file("hangs1/control.sock"), mode: 0o600)
        let second = try UnixSocket.listen(path: folder.file("hangs2/control.sock"), mode: 0o600)
        let server = ControlServer(
            path: folder.file("main/control.sock"), mode: 0o600,
            routes: .standard(status: { .full }, readiness: { .ready }))
        try server.start()
        defer { server.stop() }
        let reports = InstanceSurvey.ask(instances.all, timeout: .seconds(2))
        #expect(reports.map(\.instance.name) == ["hangs1", "hangs2", "main", "stale"])
        for report in reports {
            switch (report.instance.name, report.answer) {
            case ("main", .status(let json)): #expect(StatusReport(json: json) == .full)
            case ("hangs1", .failure(.unanswered)), ("hangs2", .failure(.unanswered)): break
            case ("stale", .failure(.nobodyListens)): break
            default: Issue.record("\(report)")
            }
        }
        withExtendedLifetime(first.raw) {}
        withExtendedLifetime(second.raw) {}
    }
}
