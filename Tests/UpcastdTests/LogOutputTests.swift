import Configuration
import ControlProtocol
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
            level: .info, format: format, isJournal: isJournal, clock: clock, put: { [lines] in lines.add($0) })
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
        logger.tell(.sourceRefused(source: "camera", by: ["main", "backup"]))
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
            case .text: "<5>at \(escaped) plain=é reason=\"\(value)\"\n"
            case .json: #"<5>{"level":"notice","message":"at \#(value)","plain":"é","reason":"\#(value)"}"# + "\n"
            }
        #expect(lines.all == [expected])
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

    /// The line that tells of those left out comes before the next of the same.
    @Test func aFloodThatGoesOn() {
        let (_, logger) = output(isJournal: true)
        for _ in 0..<21 { logger.info("again") }
        clock.advance(by: .seconds(11))
        logger.info("again")
        #expect(Array(lines.all.suffix(2).map { String($0.prefix(9)) }) == ["<6>repeat", "<6>again\n"])
    }
}
