import ControlProtocol
import Foundation
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Privacy

extension AuditLog {
    fileprivate func note(
        _ event: String, by actor: PrivacyActor, isRegion: Bool = false, _ members: [JSONValue.Member]
    ) {
        add(event, by: actor, isRegion: isRegion, members)
        flush()
        written()
    }

    fileprivate func written() {
        do { try waitFor("the disk") { waitUntilIdle(for: .zero) } } catch { Issue.record(error) }
    }
}

@Suite struct AuditLogTests {
    private func lines(_ path: String) throws -> [JSONValue] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    }

    @Test func everyLineIsAnObject() throws {
        let folder = try TemporaryDirectory("audit")
        let log = try AuditLog(path: folder.file("audit.json"), clock: ManualClock())
        log.note(
            "curtain_raised", by: Self.app,
            [.init("holder", .string("app:kiosk")), .init("reason", .string("a\n\"b\""))])
        let all = try lines(folder.file("audit.json"))
        #expect(all.count == 1)
        #expect(all[0]["event"] == .string("curtain_raised"))
        #expect(all[0]["reason"] == .string("a\n\"b\""))
        #expect(log.lost == 0)
    }

    private static let app = PrivacyActor(.app, user: 1000, process: 7)

    /// Somebody who raises and lowers without end must not fill the disk; that lines are missing, and whose, is said.
    @Test func aFloodIsCounted() throws {
        let folder = try TemporaryDirectory("audit")
        let clock = ManualClock()
        let log = try AuditLog(path: folder.file("audit.json"), clock: clock)
        let most = AuditAllowance.linesPerSecond
        for _ in 0..<(most + 7) { log.note("curtain_raised", by: Self.app, []) }
        #expect(try lines(folder.file("audit.json")).count == most)
        #expect(log.lost == 7)
        #expect(log.settle() == [.flooded(by: "app of user 1000", lines: 7)])
        #expect(log.settle() == [])
        log.written()
        let said = try #require(try lines(folder.file("audit.json")).last)
        #expect(said["event"] == .string("lines_left_out") && said["lines"] == .integer(7))
        #expect(said["by_user"] == .integer(1000))
        clock.advance(by: .seconds(1))
        log.note("curtain_lowered", by: Self.app, [])
        #expect(try lines(folder.file("audit.json")).last?["event"] == .string("curtain_lowered"))
    }

    /// What one asks for without end keeps out nothing of what others do, nor of what it does itself with the curtain.
    @Test func aFloodCrowdsOutNobody() throws {
        let folder = try TemporaryDirectory("audit")
        let log = try AuditLog(path: folder.file("audit.json"), clock: ManualClock())
        for _ in 0..<1_000 { log.note("region_moved", by: Self.app, isRegion: true, []) }
        let before = try lines(folder.file("audit.json")).count
        log.note("curtain_raised", by: Self.app, [])
        log.note("curtain_raised", by: PrivacyActor(.app, user: 1001), [])
        log.note("curtain_raised", by: .daemon, [])
        for _ in 0..<500 { log.note("protection_off", by: PrivacyActor(.operator, user: 0), []) }
        #expect(try lines(folder.file("audit.json")).count == before + 503)
    }

    /// So many users that not each can have an account: they share one, and memory has a bound.
    @Test func usersWithoutEndShareAnAllowance() {
        var allowance = AuditAllowance()
        let taken = (0..<1_000).count { number in
            allowance.takes(.init(PrivacyActor(.app, user: UInt32(number))), at: .seconds(5))
        }
        #expect(taken == 64 + AuditAllowance.linesPerSecond)
        let left = allowance.settle(at: .seconds(7))
        #expect(left.map(\.leftOut) == [1_000 - taken])
        let again = allowance.takes(.init(PrivacyActor(.app, user: 999)), at: .seconds(7))
        #expect(again)
    }

    /// A disk that was full has taken half a line: the next one begins a line of its own.
    @Test func halfALineIsLeftAlone() throws {
        let folder = try TemporaryDirectory("audit")
        let path = folder.file("audit.json")
        try "{\"time\":\"2026\"}\n{\"time\":\"20".write(toFile: path, atomically: true, encoding: .utf8)
        let log = try AuditLog(path: path, clock: ManualClock())
        log.note("curtain_raised", by: Self.app, [])
        log.note("curtain_lowered", by: Self.app, [])
        let text = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(text.count == 4 && text[1] == "{\"time\":\"20", "\(text)")
        #expect(try JSONParser.parse(Array(text[2].utf8))["event"] == .string("curtain_raised"))
    }

    /// A disk that was full for less than a second: the log says it, and a line says how many are missing there.
    @Test func whatWasLostIsSaid() throws {
        let folder = try TemporaryDirectory("audit")
        let path = folder.file("audit.json")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = OwnedDescriptor(open(path, O_RDONLY | O_NONBLOCK))
        let log = try AuditLog(path: path, clock: ManualClock())
        let who = PrivacyActor(.operator, user: 0)
        func read() -> [String] {
            var text: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 65_536)
            while case let count = Glibc.read(reader.raw, &part, part.count), count > 0 { text += part[..<count] }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        var lines = 0
        while log.lost < 3, lines < 1_000 {
            log.note("curtain_raised", by: who, [.init("reason", .string(String(repeating: "a", count: 200)))])
            lines += 1
        }
        #expect(log.lost == 3)
        #expect(read().count == lines - 3)
        log.note("curtain_lowered", by: who, [])
        let after = read()
        #expect(after.count == 2 && after[0].contains(#""event":"lines_lost","lines":3"#), "\(after)")
        #expect(log.settle() == [.failing("\(Errno(EAGAIN))"), .writing(lost: 3)])
        #expect(log.settle() == [])
    }

    /// The log says once that the disk is full, and not for each line.
    @Test func aFullDiskIsSaid() throws {
        let log = try AuditLog(path: "/dev/full", clock: ManualClock())
        for _ in 0..<3 { log.note("curtain_raised", by: Self.app, []) }
        #expect(log.lost == 3)
        #expect(log.settle() == [.failing("\(Errno(ENOSPC))")])
        log.note("curtain_raised", by: Self.app, [])
        #expect(log.settle() == [])
    }

    @Test func aFileThatWasMovedAwayIsMadeAnew() throws {
        let folder = try TemporaryDirectory("audit")
        let (path, old) = (folder.file("audit.json"), folder.file("audit.json.1"))
        let log = try AuditLog(path: path, clock: ManualClock())
        log.note("a", by: Self.app, [])
        #expect(rename(path, old) == 0)
        log.note("b", by: Self.app, [])
        log.reopen()
        log.note("c", by: Self.app, [])
        #expect(try lines(old).count == 2)
        #expect(try lines(path).count == 1)
    }

    @Test func aFolderThatIsNotThereIsSaid() throws {
        let failure = #expect(throws: AuditFailure.self) {
            try AuditLog(path: "/nowhere/at/all/audit.json", clock: ManualClock())
        }
        #expect(failure?.sentence.contains("privacy.audit_file") == true)
    }
}
