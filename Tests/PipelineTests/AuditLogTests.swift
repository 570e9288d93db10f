import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Pipeline

@Suite struct AuditLogTests {
    private final class HandClock: TimeSource, Sendable {
        let time = Monitor(MediaTime.seconds(100))
        func now() -> MediaTime { time.withLock { $0 } }
    }

    private func lines(_ path: String) throws -> [JSONValue] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    }

    @Test func everyLineIsAnObject() throws {
        let folder = try TemporaryDirectory("audit")
        let log = try AuditLog(path: folder.file("audit.json"), clock: HandClock())
        log.note("curtain_raised", [.init("holder", .string("app:kiosk")), .init("reason", .string("a\n\"b\""))])
        let all = try lines(folder.file("audit.json"))
        #expect(all.count == 1)
        #expect(all[0]["event"] == .string("curtain_raised"))
        #expect(all[0]["reason"] == .string("a\n\"b\""))
        #expect(log.lost == 0)
    }

    /// Somebody who raises and lowers without end must not fill the disk; what is missing is counted.
    @Test func aFloodIsCounted() throws {
        let folder = try TemporaryDirectory("audit")
        let clock = HandClock()
        let log = try AuditLog(path: folder.file("audit.json"), clock: clock)
        for _ in 0..<(AuditLog.linesPerSecond + 7) { log.note("curtain_raised", []) }
        #expect(try lines(folder.file("audit.json")).count == AuditLog.linesPerSecond)
        #expect(log.lost == 7)
        clock.time.withLock { $0 = .seconds(101) }
        log.note("curtain_lowered", [])
        #expect(try lines(folder.file("audit.json")).last?["event"] == .string("curtain_lowered"))
    }

    @Test func aFileThatWasMovedAwayIsMadeAnew() throws {
        let folder = try TemporaryDirectory("audit")
        let (path, old) = (folder.file("audit.json"), folder.file("audit.json.1"))
        let log = try AuditLog(path: path, clock: HandClock())
        log.note("a", [])
        #expect(rename(path, old) == 0)
        log.note("b", [])
        try log.reopen()
        log.note("c", [])
        #expect(try lines(old).count == 2)
        #expect(try lines(path).count == 1)
    }

    @Test func aFolderThatIsNotThereIsSaid() throws {
        let failure = #expect(throws: AuditFailure.self) {
            try AuditLog(path: "/nowhere/at/all/audit.json", clock: HandClock())
        }
        #expect(failure?.sentence.contains("privacy.audit_file") == true)
    }
}
