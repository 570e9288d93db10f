import Configuration
import Control
import ControlProtocol
import LinuxSystem
import Logging
import MediaCore
import Publishing
import TestSupport
import Testing

@testable import Pipeline
@testable import upcastd

/// Promise: what somebody makes happen without end does not push out what an operator has to see.
@Suite struct EventLogTests {
    private static let raised = DaemonEvent.curtainRaised(
        holder: "app:x", why: "", takenBackVideoPackets: 0, takenBackAudioPackets: 0, isRoutine: false)
    private static let lowered = DaemonEvent.curtainLowered(holders: ["app:x"], why: "", isRoutine: false)

    /// What has no name that stays is in the log only.
    @Test func onlyEventsAreEvents() {
        let journal = EventJournal()
        let logger = Logger(label: "test") { _ in EventLog(journal) }
        logger.error("a library speaks", metadata: ["event": "it_says_so"])
        logger.tell(.destinationLive(destination: "main", isFlapping: true))
        #expect(journal.events(after: 0).isEmpty)
        logger.tell(.destinationLive(destination: "main"))
        #expect(journal.events(after: 0).map(\.name) == ["destination_live"])
        let json = journal.events(after: 0).map { String(decoding: $0.json, as: UTF8.self) }
        #expect(json.first?.hasSuffix(#""message":"destination live","fields":{"destination":"main"}}"#) == true)
    }

    @Test func anAppEmptiesNoJournal() {
        let (journal, clock) = (EventJournal(), ManualClock(.seconds(1)))
        let events = EventLog(journal, clock: clock)
        let logger = Logger(label: "test") { _ in events }
        logger.tell(.protectionTurnedOff(protection: .curtain, forced: false))
        // Three seconds, as fast as the control server answers.
        for _ in 0..<2_500 {
            logger.tell(Self.raised)
            logger.tell(Self.lowered)
            clock.advance(by: .microseconds(1_200))
        }
        func names() -> [String] { journal.events(after: 0).map(\.name) }
        #expect(names().first == "protection_turned_off")
        #expect(names().count == 1 + 2 * RepeatLimit.mostLines)
        clock.advance(by: RepeatLimit.window)
        events.tellOmitted()
        let told = journal.events(after: 0).suffix(2).map { String(decoding: $0.json, as: UTF8.self) }
        #expect(told.allSatisfy { $0.contains("repeated log lines left out") && $0.contains("\"count\":2480,") })
        #expect(told.map { $0.contains("\"of\":\"curtain_raised\"") } == [false, true], "names, not messages")

        // And if it goes on for ten minutes.
        for _ in 0..<600 {
            for _ in 0..<30 {
                logger.tell(Self.raised)
                logger.tell(Self.lowered)
            }
            clock.advance(by: .seconds(1))
        }
        #expect(names().count == EventJournal.capacity)
        #expect(names().first == "protection_turned_off")
        let ids = journal.events(after: 0).map(\.id)
        #expect(ids == ids.sorted())
    }

    /// Bug: each failure was a message of its own, because it held the length of a random pause. One destination that
    /// nobody answers pushed out all else, and the limits of the log and of the journal never applied.
    @Test func aDestinationThatFailsEmptiesNoJournal() {
        let (journal, clock, lines) = (EventJournal(), ManualClock(.seconds(1)), Monitor<[String]>([]))
        let output = LogOutput(
            level: .info, lines: LogLines(format: .text, isJournal: true), clock: clock,
            put: { line in lines.withLock { $0.append(line) } })
        let events = EventLog(journal, clock: clock)
        let logger = Logger(label: "test") { _ in DaemonLog(StandardErrorLog(output), events) }
        logger.tell(.protectionTurnedOff(protection: .takeBack, forced: false))
        for round in 1...100 {
            for cause in FailureCause.allCases {
                var error = PublishError(cause, "the server says: \(round)")
                (error.destination, error.consequence) = ("\"m\" (rtmp://\(round))", "trying again in 0.0\(round) s")
                DestinationEvent.retrying(error, attempt: round, after: .zero).log(
                    to: logger, name: "m", isFlapping: false)
                DestinationEvent.failed(error).log(to: logger, name: "m", isFlapping: false)
                DestinationEvent.notice("going on at \(cause) \(round)").log(to: logger, name: "m", isFlapping: false)
                DestinationEvent.warning("hangs \(cause) \(round)").log(to: logger, name: "m", isFlapping: false)
            }
            clock.advance(by: .milliseconds(90))
        }
        var counts: [String: Int] = [:]
        for event in journal.events(after: 0) { counts[event.name, default: 0] += 1 }
        let repeated = ["destination_retrying", "destination_failed", "destination_notice", "destination_warning"]
        var expected = Dictionary(uniqueKeysWithValues: repeated.map { ($0, RepeatLimit.mostLines) })
        expected["protection_turned_off"] = 1
        #expect(counts == expected)
        let written = lines.withLock { $0 }
        #expect(written.count == 1 + repeated.count * RepeatLimit.mostLines)
        // What differs is told all the same.
        let line = #"<4>destination retrying attempt=1 cause=name_resolution destination=m"#
            + #" now="trying again in 0.01 s" why="\"m\" (rtmp://1): the server says: 1""#
        #expect(written.dropFirst().first == line + "\n", "\(written)")

        // And if it goes on for five minutes.
        for attempt in 1...4_000 {
            var error = PublishError(.connect, "connection refused")
            error.consequence = "trying again in \(attempt) ms"
            DestinationEvent.retrying(error, attempt: attempt, after: .zero).log(
                to: logger, name: "m", isFlapping: false)
            clock.advance(by: .milliseconds(75))
        }
        let names = journal.events(after: 0).map(\.name)
        #expect(names.count == EventJournal.capacity && names.first == "protection_turned_off")
    }
}
