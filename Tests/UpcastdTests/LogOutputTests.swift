import Configuration
import ControlProtocol
import Glibc
import LinuxSystem
import Logging
import MediaCore
import Pipeline
import TestSupport
import Testing

@testable import upcastd

/// Promise: a log line has what whoever keeps it needs, and nothing twice.
@Suite struct LogOutputTests {
    private final class Lines: Sendable {
        private let lines = Monitor<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let lines = Lines()
    private let clock = ManualClock(.seconds(1))

    private func output(
        _ format: LogConfiguration.Format = .text, isJournal: Bool = false
    ) -> (output: LogOutput, logger: Logger) {
        let output = LogOutput(
            level: .info, lines: LogLines(format: format, isJournal: isJournal), clock: clock,
            put: { [lines] in lines.add($0) })
        return (output, Logger(label: "test") { _ in StandardErrorLog(output) })
    }

    /// The journal has the time, and takes the priority from the line.
    @Test func journal() {
        let (output, logger) = output(isJournal: true)
        output.level = .trace
        for level in Logger.Level.allCases { logger.log(level: level, "it is so", metadata: ["why": "a reason"]) }
        let rest = "it is so why=\"a reason\"\n"
        #expect(lines.all == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"].map { $0 + rest })
    }

    @Test func journalInJSON() {
        let (_, logger) = output(.json, isJournal: true)
        logger.notice("it is \"so\"", metadata: ["n": "1"])
        #expect(lines.all == [#"<5>{"level":"notice","message":"it is \"so\"","n":"1"}"# + "\n"])
    }

    /// Whoever reads the log with a program compares numbers, and not texts.
    @Test func typesInJSON() {
        let (_, logger) = output(.json, isJournal: true)
        logger.tell(
            .broadcastEnded(frames: 30, framesDropped: 2, dropped: 0, duration: .milliseconds(1_500), sentAll: true))
        logger.tell(.configurationWaitsForARestart(keys: ["video.fit", "a \"b\""]))
        #expect(
            lines.all == [
                #"<6>{"level":"info","message":"broadcast ended","dropped":0,"duration_ms":1500,"#
                    + #""event":"broadcast_ended","frames":30,"frames_dropped":2,"sent_all":true}"# + "\n",
                #"<4>{"level":"warning","message":"configuration waits for a restart","#
                    + #""event":"configuration_waits_for_a_restart","keys":["video.fit","a \"b\""],"#
                    + #""now":"the daemon keeps the values of its start"}"# + "\n",
            ])
    }

    /// For people the message says what the event's name does.
    @Test func typesInText() {
        let (_, logger) = output(isJournal: true)
        logger.tell(
            .broadcastEnded(frames: 30, framesDropped: 2, dropped: 0, duration: .milliseconds(1_500), sentAll: true))
        logger.tell(.destinationLive(destination: "main", isFlapping: true))
        logger.tell(.sourceRefused(source: .camera, by: ["main", "backup"]))
        #expect(
            lines.all == [
                "<6>broadcast ended dropped=0 duration_ms=1500 frames=30 frames_dropped=2 sent_all=true\n",
                "<5>source refused by=\"main, backup\" source=camera\n",
            ])
    }

    /// Bug: a server's address, or a client's words, could start commands of the terminal, and turn the text around.
    @Test(arguments: [LogConfiguration.Format.text, .json]) func hiddenCharacters(format: LogConfiguration.Format) {
        let (_, logger) = output(format, isJournal: true)
        let text = "li\u{9b}31m\u{85}\nFAKE\u{202e}\u{2028}\u{e0041} é"
        logger.notice("at \(text)", metadata: ["reason": "\(text)", "plain": "é"])
        let escaped = #"li\u009b31m\u0085"# + (format == .json ? #"\n"# : #"\u000a"#)
            + #"FAKE\u202e\u2028\udb40\udc41 é"#
        let value = escaped.replacing(#"\u000a"#, with: #"\n"#)
        let expected =
            switch format {
            case .auto, .text: "<5>at \(escaped) plain=é reason=\"\(value)\"\n"
            case .json: #"<5>{"level":"notice","message":"at \#(value)","plain":"é","reason":"\#(value)"}"# + "\n"
            }
        #expect(lines.all == [expected])
    }

    // MARK: The journal's socket

    /// The fields of a datagram, in both of the protocol's forms.
    private func fields(_ datagram: [UInt8]) -> [String] {
        var fields: [String] = []
        var rest = datagram[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != 0x3D && $0 != 0x0A }
            rest = rest.dropFirst(name.count)
            let isSized = rest.popFirst() == 0x0A
            var value = rest.prefix { $0 != 0x0A }
            if isSized {
                let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                value = rest.dropFirst(8).prefix(count)
                rest = rest.dropFirst(8)
            }
            rest = rest.dropFirst(value.count + 1)
            fields.append("\(String(decoding: name, as: UTF8.self))=\(String(decoding: value, as: UTF8.self))")
        }
        return fields
    }

    /// journald's side: a datagram socket that nobody reads until `take`.
    private final class Journald {
        let folder: TemporaryDirectory
        let descriptor: OwnedDescriptor
        var path: String { folder.file("socket") }

        init() throws {
            folder = try TemporaryDirectory("journal")
            descriptor = try OwnedDescriptor(checking: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder.file("socket").utf8)) }
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else { throw TestFailure("cannot bind: \(Errno.current)") }
        }

        /// The next datagram; nil for none.
        func take() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : Array(buffer[..<count])
        }

        func entry() throws -> [UInt8] {
            guard let datagram = take() else { throw TestFailure("the journal got nothing") }
            return datagram
        }
    }

    private func logger(_ journal: JournalSocket) -> Logger {
        let output = LogOutput(
            level: .info, lines: LogLines(isJournal: true), clock: clock, journal: journal,
            put: { [lines] in lines.add($0) })
        return Logger(label: "test") { _ in StandardErrorLog(output) }
    }

    @Test func fieldsInTheJournal() throws {
        let journald = try Journald()
        let logger = logger(try JournalSocket(path: journald.path))
        let why = "no\nDESTINATION=x\nsuch"
        logger.tell(.destinationFailed(destination: "main", cause: .rejected, why: why, now: nil))
        let failed = try fields(journald.entry())
        #expect(
            failed == [
                #"MESSAGE=destination failed cause=rejected destination=main why="no\nDESTINATION=x\nsuch""#,
                "PRIORITY=3", "SYSLOG_IDENTIFIER=upcastd", "CAUSE=rejected", "DESTINATION=main",
                "EVENT=destination_failed", "WHY=no\nDESTINATION=x\nsuch",
            ])
        logger.tell(.sourceRefused(source: .camera, by: ["main", "backup"]))
        let refused = try fields(journald.entry())
        #expect(refused.suffix(4) == ["BY=main", "BY=backup", "EVENT=source_refused", "SOURCE=camera"])
        let isEmpty = journald.take() == nil
        #expect(lines.all.isEmpty && isEmpty)
    }

    /// What journald does not take goes where it went before: to standard error, with its priority.
    @Test func aJournalThatTakesNothing() throws {
        let journald = try Journald()
        let journal = try JournalSocket(path: journald.path)
        let logger = logger(journal)
        // Its queue is full: nobody reads.
        var entry = JournalEntry()
        entry.add("MESSAGE", "filler")
        while journal.send(entry) {}
        logger.notice("it is so", metadata: ["n": "1"])
        #expect(lines.all == ["<5>it is so n=1\n"])
        while journald.take() != nil {}
        logger.notice("it is so", metadata: ["n": "2"])
        #expect(lines.all.count == 1)
        let back = try fields(journald.entry())
        #expect(back.contains("N=2"))

        // It is away, and comes back.
        let isGone = unlink(journald.path) == 0
        #expect(isGone)
        logger.notice("it is so", metadata: ["n": "3"])
        #expect(lines.all.last == "<5>it is so n=3\n")
    }

    /// Names and values that the protocol has no place for.
    @Test func fieldsAreBounded() {
        var entry = JournalEntry()
        for name in ["_PID", "1a", "", "ä", "a-b", "a=b", "a\nb", String(repeating: "a", count: 65)] {
            entry.add(name, "x")
        }
        #expect(entry.bytes.isEmpty)
        entry.add("long", String(repeating: "é", count: 5000))
        #expect(entry.bytes.count <= 4096 + 7 && entry.bytes.count > 4000)
        entry.add("empty", "")
        #expect(entry.bytes.suffix(7) == Array("EMPTY=\n".utf8))
    }

    @Test func elsewhere() throws {
        let (_, logger) = output()
        logger.notice("it is so", metadata: ["n": "1"])
        let line = try #require(lines.all.first)
        #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z notice it is so n=1\n/) != nil, "\(line)")
    }

    /// A logger that was made before follows.
    @Test func theLevelChangesForAll() {
        let (output, logger) = output(isJournal: true)
        logger.debug("unheard")
        output.level = .debug
        logger.debug("heard")
        output.level = .error
        logger.warning("unheard")
        #expect(lines.all == ["<7>heard\n"])
    }

    @Test func floods() {
        let (output, logger) = output(isJournal: true)
        for _ in 0..<100 { logger.warning("again", metadata: ["destination": "main"]) }
        #expect(lines.all.count == 20)
        clock.advance(by: .seconds(10))
        output.tellOmitted()
        #expect(
            lines.all.last
                == "<4>repeated log lines left out count=80 destination=main of=again within_ms=10000\n")
        output.tellOmitted()
        #expect(lines.all.count == 21)
    }

    /// Of an event, its name is told: its message may be reworded.
    @Test func aFloodOfAnEvent() {
        let (output, logger) = output(isJournal: true)
        for _ in 0..<21 { logger.tell(.sourceRefused(source: .camera, by: ["main"])) }
        clock.advance(by: .seconds(10))
        output.tellOmitted()
        #expect(lines.all.last == "<5>repeated log lines left out count=1 of=source_refused within_ms=10000\n")
    }

    /// The line that tells of those left out comes before the next of the same.
    @Test func aFloodThatGoesOn() {
        let (_, logger) = output(isJournal: true)
        for _ in 0..<21 { logger.info("again") }
        clock.advance(by: .seconds(11))
        logger.info("again")
        #expect(Array(lines.all.suffix(2).map { String($0.prefix(9)) }) == ["<6>repeat", "<6>again\n"])
    }
}
