import Configuration
import Control
import ControlProtocol
import LinuxSystem
import Logging
import MediaCore
import Pipeline
import TestSupport
import Testing

@testable import upcastd

/// Promise: a command or a reload changes the level of the log at once, and the events stay.
@Suite struct DaemonLogTests {
    /// Bug: a level below that of the start had no effect, because swift-log's MultiplexLogHandler keeps the first one.
    @Test(arguments: [Logger.Level.info, .error]) func theLevelOfTheOutputCounts(first: Logger.Level) {
        let (journal, lines) = (EventJournal(), Monitor<[String]>([]))
        let output = LogOutput(
            level: first, lines: LogLines(format: .text, isJournal: true), clock: ManualClock(.seconds(1)),
            put: { line in lines.withLock { $0.append(line) } })
        let logger = Logger(label: "test") { _ in DaemonLog(StandardErrorLog(output), EventLog(journal)) }
        func log(at level: Logger.Level) -> [String] {
            output.level = level
            lines.withLock { $0 = [] }
            logger.debug("a detail")
            logger.tell(.stoppedByAnOperator)
            return lines.withLock { $0.map { String($0.dropFirst(3).prefix { $0 != "\n" && $0 != "=" }) } }
        }
        #expect(log(at: .debug) == ["a detail", "stopped by an operator now"])
        #expect(log(at: .info) == ["stopped by an operator now"])
        #expect(log(at: .error).isEmpty)
        // Whatever the log's level is.
        #expect(journal.events(after: 0).count == 3)
    }
}
