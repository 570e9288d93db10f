import Foundation
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Privacy

/// Promise: what the state file holds is what was written last, whole, or nobody believes it.
@Suite struct PrivacyStateFileTests {
    /// A record with one hold.
    private static func holding(_ hold: String) -> String {
        #"{"version":1,"holds":[\#(hold)],"regions":[],"switches":[]}"#
    }

    /// A record with one region.
    private static func hiding(_ edges: String, unit: String = "normalized") -> String {
        #"{"version":1,"holds":[],"regions":[{"holder":"app","name":"a","user":1,"region":"r","unit":"\#(unit)","#
            + edges + #"}],"switches":[]}"#
    }

    private static let hold = #"{"holder":"app","name":"a","user":1,"reason":"","since_ms":1}"#

    private static let record: PrivacyRecord = {
        var record = PrivacyRecord()
        record.holds = [
            .init(holder: PrivacyHolder(.app, "kiosk", user: 1001), reason: "a \"quoted\"\nline \u{202e}", since: 5),
            .init(holder: PrivacyHolder(.operator), reason: "", since: -3),
            .init(holder: Curtain.tooMany, reason: "more than 64 hold it up", since: 1_795_339_486_000),
        ]
        record.regions = [
            StandingRegion(
                holder: PrivacyHolder(.app, "kiosk", user: 1001), name: "password",
                edges: RectEdges(left: 0.1, top: -1e-7, right: 1.0 / 3, bottom: 1), unit: .normalized),
            StandingRegion(
                holder: PrivacyHolder(.operator), name: "a/b",
                edges: RectEdges(left: 1, top: 2, right: 3, bottom: 65_536), unit: .pixels),
        ]
        record.switches = [.takeBack: false, .curtain: true]
        return record
    }()

    /// As many as there may be, each as long as it may be.
    private static let largest: PrivacyRecord = {
        let name = String(repeating: "n", count: 64)
        var record = PrivacyRecord()
        record.holds = (0..<PrivacyRecord.maxHolds).map { number in
            .init(
                holder: PrivacyHolder(.app, name, user: .max - UInt32(number)),
                reason: String(repeating: "\u{1}", count: 200), since: .min)
        }
        let edge = -0.12345678901234567
        record.regions = (0..<StandingRegions.capacity).map { number in
            StandingRegion(
                holder: PrivacyHolder(.app, name, user: .max - UInt32(number)), name: name,
                edges: RectEdges(left: edge, top: edge, right: -edge, bottom: -edge), unit: .normalized)
        }
        for protection in Protection.allCases { record.switches[protection] = false }
        return record
    }()

    @Test func whatIsWrittenIsRead() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        #expect(file.find() == .nothing)
        for record in [PrivacyRecord(), Self.record, Self.largest, PrivacyRecord()] {
            try file.write(record)
            #expect(file.find() == .record(record))
        }
        var status = stat()
        #expect(lstat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state.json"])
    }

    @Test func theLargestRecordFits() {
        #expect(Self.largest.serialized.count * 2 < PrivacyStateFile.maxBytes, "\(Self.largest.serialized.count)")
    }

    /// A daemon that dies within a write leaves the record from before, and the next write is not in its way.
    @Test func aWriteThatIsCutOffLeavesTheOldOne() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        try file.write(Self.record)
        try file.prepare(Self.largest)
        #expect(file.find() == .record(Self.record))
        // Cut off within the bytes, too.
        truncate(folder.file("state.json.new"), 10)
        #expect(try PrivacyStateFile(path: file.path).find() == .record(Self.record))
        try file.write(Self.largest)
        #expect(file.find() == .record(Self.largest))
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"version":2,"holds":[],"regions":[],"switches":[]}"#,
        #"{"holds":[],"regions":[],"switches":[]}"#, #"{"version":1,"holds":[],"regions":[]}"#,
        #"{"version":1,"holds":[],"regions":[],"switches":[],"later":1}"#,
        #"{"version":1,"holds":{},"regions":[],"switches":[]}"#,
        #"{"version":1,"holds":[],"regions":[],"switches":[{"name":"curtains","on":false}]}"#,
        Self.holding(#"{"holder":"client","name":"","user":null,"reason":"","since_ms":1}"#),
        Self.holding(#"{"holder":"app","name":"a b","user":null,"reason":"","since_ms":1}"#),
        Self.holding(#"{"holder":"app","name":"a","user":-1,"reason":"","since_ms":1}"#),
        Self.holding(#"{"holder":"daemon","name":"start","user":null,"reason":"","since_ms":1}"#),
        // What no command could have made. The first picture ended a daemon that took the first three.
        Self.hiding(#""left":-1e300,"top":-1e300,"right":1e300,"bottom":1e300"#),
        Self.hiding(#""left":0,"top":0,"right":1e19,"bottom":1e19"#, unit: "pixels"),
        Self.hiding(#""left":0,"top":-10000000000000000000,"right":1,"bottom":1"#, unit: "pixels"),
        Self.hiding(#""left":-8.5,"top":0,"right":1,"bottom":1"#),
        Self.hiding(#""left":0,"top":0,"right":1,"bottom":16.5"#),
        Self.hiding(#""left":0.5,"top":0,"right":0.1,"bottom":1"#),
        Self.hiding(#""left":0,"top":0.5,"right":1,"bottom":0.5"#),
        Self.hiding(#""left":5,"top":0,"right":6,"bottom":1"#),
        Self.hiding(#""left":-3,"top":0,"right":-1,"bottom":1"#, unit: "pixels"),
        Self.holding(#"{"holder":"operator","name":"","user":5,"reason":"","since_ms":1}"#),
        Self.holding(
            #"{"holder":"app","name":"a","user":1,"since_ms":1,"reason":""#
                + String(repeating: "r", count: PrivacyRecord.maxReasonBytes + 1) + #""}"#),
        // What is said twice has two meanings.
        #"{"version":1,"version":2,"holds":[],"regions":[],"switches":[]}"#,
        #"{"version":1,"holds":[\#(Self.hold)],"holds":[],"regions":[],"switches":[]}"#,
        Self.holding(#"{"holder":"app","name":"a","name":"b","user":1,"reason":"","since_ms":1}"#),
        Self.hiding(#""left":0,"top":0,"right":1,"right":0.5,"bottom":1"#),
        Self.holding(Self.hold + "," + Self.hold),
        #"{"version":1,"holds":[],"regions":[],"switches":["#
            + #"{"name":"curtain","on":true},{"name":"curtain","on":false}]}"#,
        #"{"version":1,"holds":[],"regions":[],"switches":[],"consulting":["#
            + #"{"holder":"app","name":"a","user":1},{"holder":"app","name":"a","user":1}]}"#,
    ])
    func whatIsNotUnderstoodIsRefusedAndKept(text: String) throws {
        let folder = try TemporaryDirectory("state")
        try folder.write(text, to: "state.json")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        guard case .unreadable(let why, let keptAs?) = file.find() else {
            Issue.record("it was taken: \(text)")
            return
        }
        #expect(!why.isEmpty)
        #expect(try String(contentsOfFile: keptAs, encoding: .utf8) == text)
        // Also for a daemon that starts before this one has written its record.
        #expect(file.find() == .unreadable(why: why, keptAs: keptAs))
        try file.write(Self.record)
        #expect(file.find() == .record(Self.record))
        #expect(try String(contentsOfFile: keptAs, encoding: .utf8) == text)
    }

    /// What cannot have a second name changes places with an empty file, which is no record.
    @Test func aFolderIsMoved() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        mkdir(file.path, 0o700)
        guard case .unreadable(_, let keptAs?) = file.find() else {
            Issue.record("it was taken")
            return
        }
        #expect(keptAs == folder.file("state.json.unreadable"))
        guard case .unreadable(_, folder.file("state.json.unreadable.2")) = file.find() else {
            Issue.record("nothing is in its place")
            return
        }
        try file.write(Self.record)
        #expect(file.find() == .record(Self.record))
    }

    /// As far out as commands can put them.
    @Test func regionsAtTheLimitsAreTaken() throws {
        for (edges, unit) in [
            (#""left":-8,"top":-8,"right":16,"bottom":8"#, "normalized"),
            (#""left":-65536,"top":4095.5,"right":131072,"bottom":131072"#, "pixels"),
        ] {
            let record = try PrivacyRecord(parsing: Array(Self.hiding(edges, unit: unit).utf8))
            let regions = StandingRegions(record.regions)
            var secure = SecureRegions()
            for transform in UprightTransform.allCases {
                regions.hide(in: &secure, width: 4096, height: 4096, transform: transform)
            }
            #expect(record.regions.count == 1 && !secure.isEmpty)
        }
    }

    /// Bug: two daemons with one file each made the other forget what is hidden.
    @Test func oneDaemonAtATime() throws {
        let folder = try TemporaryDirectory("state")
        var second = try PrivacyStateFile(path: folder.file("state.json"))
        do {
            var first = try PrivacyStateFile(path: folder.file("state.json"))
            try first.takeLock()
            try first.write(Self.record)
            let failure = #expect(throws: StateFileFailure.self) { try second.takeLock() }
            #expect(failure?.sentence.contains("another process has locked \(first.path).lock") == true)
            var other = try PrivacyStateFile(path: folder.file("other.json"))
            try other.takeLock()
            // Until the first one ends.
            try first.write(Self.largest)
        }
        try second.takeLock()
        #expect(second.find() == .record(Self.largest))
        var status = stat()
        #expect(lstat(second.path + ".lock", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func theMarkIsOfTheFileInPlace() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        #expect(file.mark() == nil)
        try file.write(Self.record)
        let first = file.mark()
        #expect(first != nil && file.mark() == first)
        try file.write(Self.record)
        #expect(file.mark() != nil && file.mark() != first)
        unlink(file.path)
        #expect(file.mark() == nil)
    }

    @Test func whatSomebodyElseMayHaveMadeIsRefused() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        func expect(_ what: String, _ name: String, _ make: () throws -> Void) throws {
            unlink(file.path)
            try make()
            guard case .unreadable(let why, let keptAs) = file.find() else {
                Issue.record("\(what) was taken")
                return
            }
            #expect(why.contains(what), "\(why)")
            #expect(keptAs == folder.file(name))
        }
        try expect("others may write", "state.json.unreadable") {
            try file.write(Self.record)
            chmod(file.path, 0o602)
        }
        try expect("symbolic link", "state.json.unreadable.2") { symlink("/etc/hostname", file.path) }
        try expect("no regular file", "state.json.unreadable.3") { mkfifo(file.path, 0o600) }
        try expect("bytes", "state.json.unreadable.4") {
            try file.write(Self.record)
            truncate(file.path, off_t(PrivacyStateFile.maxBytes + 1))
        }
        if geteuid() == 0 {
            try expect("belongs to user 12345", "state.json.unreadable.5") {
                try file.write(Self.record)
                chown(file.path, 12345, 0)
            }
        }
        // The volume's group is the daemon's own.
        try file.write(Self.record)
        chmod(file.path, 0o660)
        #expect(file.find() == .record(Self.record))
    }

    @Test func aFolderThatIsNotThereIsSaidAtOnce() throws {
        let failure = #expect(throws: StateFileFailure.self) {
            try PrivacyStateFile(path: "/nowhere/at/all/state.json")
        }
        #expect(failure?.sentence.contains("privacy.state_file: cannot write to the folder /nowhere/at/all") == true)
    }

    /// A full disk: the old record stays, and the next try may do.
    @Test func aDiskThatTakesNothingKeepsTheOldOne() throws {
        let folder = try TemporaryDirectory("state")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        try file.write(Self.record)
        // Stands in the way of the new file, whoever writes.
        mkdir(folder.file("state.json.new"), 0o700)
        #expect(throws: StateFileFailure.self) { try file.write(Self.largest) }
        #expect(file.find() == .record(Self.record))
        rmdir(folder.file("state.json.new"))
        try file.write(Self.largest)
        #expect(file.find() == .record(Self.largest))
    }
}
