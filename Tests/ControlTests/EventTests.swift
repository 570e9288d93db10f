import ControlProtocol
import LinuxSystem
import NIOCore
import NIOEmbedded
import Testing

@testable import Control

/// What happened, as it is kept, streamed, and asked for again.
@Suite struct EventTests {
    private func journal(_ names: String...) -> EventJournal {
        let journal = EventJournal()
        for name in names {
            journal.append(
                EventRecord(
                    time: "2026-01-01T00:00:00.000Z", level: "notice", name: name, message: "It is \(name)",
                    fields: [.init("a", .string("b\n\"")), .init("n", .integer(1)), .init("on", .bool(true))]))
        }
        return journal
    }

    /// A message that is reworded changes nothing for a program.
    @Test func anEventHasANameAndTypedFields() throws {
        let event = try #require(journal("up_2_s").events(after: 0).first)
        #expect(event.name == "up_2_s")
        let expected = #"{"time":"2026-01-01T00:00:00.000Z","level":"notice","event":"up_2_s","#
            + #""message":"It is up_2_s","fields":{"a":"b\n\"","n":1,"on":true}}"#
        #expect(String(decoding: event.json, as: UTF8.self) == expected)
    }

    @Test func onlyTheLastAreKept() {
        let journal = EventJournal()
        for number in 1...1000 { journal.append("\(number)") }
        let ids = journal.events(after: 0).map(\.id)
        #expect(ids == Array(745...1000))
        #expect(journal.events(after: 998).map(\.name) == ["999", "1000"])
        #expect(journal.events(after: 1000).isEmpty)
        // From before the daemon was started anew.
        #expect(journal.events(after: 5000).count == EventJournal.capacity)
    }

    @Test func whatIsRareStays() {
        let journal = EventJournal()
        journal.append("rare")
        for _ in 1...1000 { journal.append("often") }
        #expect(journal.events(after: 0).count == EventJournal.capacity)
        #expect(journal.events(after: 0).first?.name == "rare")
        #expect(journal.events(after: 0).last?.id == 1001)
        #expect(journal.events(after: 999).map(\.id) == [1000, 1001])
    }

    /// Once a watcher that connected again after a restart missed the new daemon's events up to the number that it had
    /// seen of the old one.
    @Test func aDaemonThatWasStartedAnewIsSeenWhole() {
        let journal = EventJournal(after: 2_000_000)
        for number in 1...3 { journal.append("\(number)") }
        #expect(journal.events(after: 1_000_002).map(\.id) == [2_000_001, 2_000_002, 2_000_003])
        #expect(journal.events(after: 0).count == 3)
        #expect(journal.events(after: 2_000_002).map(\.name) == ["3"])
    }

    @Test func whatIsTooLongIsLeftToTheLog() throws {
        let journal = EventJournal()
        journal.append("x", [.init("y", .string(String(repeating: "z", count: 1 << 20)))])
        let event = try #require(journal.events(after: 0).first)
        #expect(event.json.count < 200)
        #expect(String(decoding: event.json, as: UTF8.self).contains("too_long"))
    }

    @Test func aStreamGoesOnWhereAWatcherWas() throws {
        let journal = journal("one", "two")
        var stream = EventStream(journal, after: 1, statusInterval: nil, status: { .full })
        let text = String(decoding: stream.next(at: 0), as: UTF8.self)
        #expect(text.hasPrefix("id: 2\nevent: two\ndata: {\"time\":\"2026-"))
        #expect(text.hasSuffix("}\n\n"))
        // A line break in a value would end the event.
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 5)
        #expect(stream.next(at: 200).isEmpty)
        #expect(stream.next(at: 15_000) == Array(": ping\n\n".utf8))
    }

    @Test func statusComesAtItsInterval() throws {
        var stream = EventStream(journal(), after: 0, statusInterval: 1000, status: { .full })
        let first = String(decoding: stream.next(at: 0), as: UTF8.self)
        #expect(first.hasPrefix("event: status\ndata: {\"version\":"))
        #expect(stream.next(at: 800).isEmpty)
        #expect(!stream.next(at: 1000).isEmpty)
    }

    /// The state at once, then every change in its order, also those that are over again; between these a sign of life.
    @Test func captureStates() throws {
        let source = CaptureSource()
        var stream = CaptureStateStream(source.news)
        func next(_ elapsed: Int64) -> String { String(decoding: stream.next(at: elapsed), as: UTF8.self) }
        #expect(
            next(0) == """
                id: 1
                event: state
                data: {"captured":false,"kind":"","client":"","since":0,"for_ms":0,"capture":0,"waiting_for":[]}


                """)
        #expect(next(100) == "" && next(999) == "" && next(1000) == ": alive\n\n" && next(1999) == "")
        // Three changes come at once: a capture that is over before anybody looks is one that was.
        source.change { $0.isCaptured = true }
        source.change { $0.isCaptured = false }
        source.change {
            $0.isCaptured = true
            $0.client = "a\n\nid: 9"
        }
        let lines = next(2000).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0.hasPrefix("id: ") } == ["id: 2", "id: 3", "id: 4"])
        let states = lines.filter { $0.hasPrefix("data: ") }.map { $0.hasPrefix("data: {\"captured\":true") }
        #expect(states == [true, false, true])
        // A line break in a name would end the event.
        #expect(lines.count == 13)
        #expect(next(2999) == "" && next(3000) == ": alive\n\n")
    }

    /// To an app that is consulted the first event says whether that is on the disk, and waits for it; what happens
    /// meanwhile comes behind it.
    @Test func theFirstEventWaitsForTheStateFile() throws {
        let source = CaptureSource()
        let written = Monitor<Bool?>(nil)
        var stream = CaptureStateStream(
            source.news,
            persisted: { elapsed in written.withLock { $0 }.map { .bool($0) } ?? (elapsed < 500 ? nil : .bool(false)) })
        var late = stream
        func lines(_ bytes: [UInt8]) -> [String] {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
        }
        #expect(stream.next(at: 0).isEmpty && late.next(at: 0).isEmpty)
        source.change { $0.isCaptured = true }
        #expect(stream.next(at: 2).isEmpty && stream.next(at: 499).isEmpty)
        written.withLock { $0 = true }
        let told = lines(stream.next(at: 499))
        try #require(told.count == 6, "\(told)")
        #expect(told[0] == "id: 1" && told[3] == "id: 2")
        #expect(told[2].hasPrefix("data: {\"captured\":false,") && told[2].hasSuffix(",\"persisted\":true}"))
        #expect(told[5].hasPrefix("data: {\"captured\":true,") && !told[5].contains("persisted"))
        #expect(stream.next(at: 500).isEmpty)
        written.withLock { $0 = nil }
        #expect(late.next(at: 499).isEmpty)
        #expect(lines(late.next(at: 500)).dropFirst(2).first?.hasSuffix(",\"persisted\":false}") == true)
    }

    /// Without a wake: it is looked after often enough at the beginning, and not for ever.
    @Test func aStreamThatIsHeldBackBeginsSoon() throws {
        let source = CaptureSource()
        let looks = Monitor((count: 0, isWritten: false))
        var routes = ControlRoutes()
        routes.add(
            "GET", "/state/events",
            answering: { _ in
                .captureStates(
                    source.news,
                    persisted: { _ in
                        looks.withLock {
                            $0.count += 1
                            return $0.isWritten ? .bool(true) : nil
                        }
                    }, open: source.open)
            })
        let channel = try EmbeddedChannel.served(routes)
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /state/events HTTP/1.1\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(try !channel.written().contains("event: state"))
        looks.withLock { $0.isWritten = true }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(2))
        #expect(try channel.written().contains("\"persisted\":true}\n\n"))
        let begun = looks.withLock { $0.count }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(900))
        #expect(looks.withLock { $0.count } == begun)

        looks.withLock { $0 = (0, false) }
        let other = try EmbeddedChannel.served(routes)
        defer { other.end() }
        try other.writeInbound(ByteBuffer(string: "GET /state/events HTTP/1.1\r\n\r\n"))
        other.embeddedEventLoop.advanceTime(by: .seconds(1))
        let atFirst = looks.withLock { $0.count }
        other.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(looks.withLock { $0.count } - atFirst < 10)
    }

    /// Every change, for those who watch: where one stands between them.
    private final class CaptureSource: Sendable {
        private struct State {
            var reports = [CaptureStateReport()]
            var wake: (@Sendable () -> Void)?
            var isOpen = false
        }
        private let state = Monitor(State())

        var news: @Sendable (UInt64?) -> CaptureStateNews? {
            { [state] number in
                state.withLock {
                    let first = number.map { Int($0) + 1 } ?? $0.reports.count - 1
                    return CaptureStateNews(Array($0.reports[first...]), number: UInt64($0.reports.count - 1))
                }
            }
        }
        var open: ControlStream.Open {
            { [state] wake in
                state.withLock { ($0.wake, $0.isOpen) = (wake, true) }
                return { state.withLock { ($0.wake, $0.isOpen) = (nil, false) } }
            }
        }
        var isOpen: Bool { state.withLock { $0.isOpen } }

        func change(_ body: (inout CaptureStateReport) -> Void) {
            let wake = state.withLock { state in
                var report = state.reports[state.reports.count - 1]
                body(&report)
                state.reports.append(report)
                return state.wake
            }
            wake?()
        }
    }

    // MARK: Over HTTP

    /// A change is told without waiting for a look, and the connection is never silent for two seconds; who has hung up
    /// is not told any more.
    @Test func aStreamOfCaptureStates() throws {
        let source = CaptureSource()
        let channel = try channel(source)
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /state/events HTTP/1.1\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try channel.written().contains("event: state\ndata: {\"captured\":false,"))
        for _ in 0..<5 {
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(1900))
            #expect(try channel.written().contains(": alive\n"))
        }
        source.change { $0.isCaptured = true }
        // No time passes.
        channel.embeddedEventLoop.run()
        #expect(try channel.written().contains("event: state\ndata: {\"captured\":true,"))
        // What a client that does not read has missed comes as soon as it does.
        channel.isWritable = false
        source.change { $0.isCaptured = false }
        source.change { $0.isCaptured = true }
        channel.embeddedEventLoop.run()
        #expect(try channel.written() == "")
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        let missed = try channel.written()
        #expect(missed.contains("{\"captured\":false,") && missed.contains("{\"captured\":true,"), "\(missed)")
        #expect(source.isOpen)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!source.isOpen)
    }

    /// An app that hangs is captured all the same: its stream ends when it hangs up, and costs no more meanwhile.
    @Test func aStreamOfCaptureStatesOutlastsAReaderThatHangs() throws {
        let source = CaptureSource()
        let channel = try channel(source)
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /state/events HTTP/1.1\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        _ = try channel.written()
        channel.isWritable = false
        source.change { $0.isCaptured = true }
        channel.embeddedEventLoop.advanceTime(by: .minutes(60))
        #expect(channel.isActive && source.isOpen)
        #expect(try channel.written() == "")
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(try channel.written().contains("id: 2\nevent: state\ndata: {\"captured\":true,"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!source.isOpen)
    }

    /// As the channel of a socket does when the client is gone before it is answered.
    private final class FailingWrite: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func flush(context: ChannelHandlerContext) { context.fireChannelInactive() }
    }

    /// Bug: its end came before the stream began. An app that had asked to be consulted was waited for from then on.
    @Test func aClientThatIsGoneBeforeItsStreamBegins() throws {
        let source = CaptureSource()
        let channel = try channel(source)
        defer { channel.end() }
        try channel.pipeline.syncOperations.addHandler(FailingWrite(), position: .first)
        try channel.writeInbound(ByteBuffer(string: "GET /state/events HTTP/1.1\r\n\r\n"))
        #expect(!source.isOpen)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!source.isOpen)
    }

    private func channel(_ source: CaptureSource) throws -> EmbeddedChannel {
        var routes = ControlRoutes()
        routes.add("GET", "/state/events", answering: { _ in .captureStates(source.news, open: source.open) })
        return try .served(routes)
    }

    private func channel(_ journal: EventJournal, _ limits: ControlLimits = ControlLimits()) throws -> EmbeddedChannel {
        var routes = ControlRoutes()
        routes.add("GET", "/events", answering: { .events(journal, $0, status: { .full }) })
        return try .served(routes, limits: limits)
    }

    /// What is misspelt is not taken for no status.
    @Test(arguments: ["?status=249", "?status=60001", "?status=", "?status=1s", "?state=1000", "?"])
    func queriesThatAreNone(query: String) throws {
        let channel = try channel(journal("one"))
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /events\(query) HTTP/1.1\r\n\r\n"))
        let answer = try channel.written()
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("250 to 60000"), "\(answer)")
    }

    @Test func aStreamStaysOpenAndEndsWithItsClient() throws {
        let journal = journal("one")
        let channel = try channel(journal)
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /events HTTP/1.1\r\nLast-Event-ID: 0\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        let head = try channel.written()
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(head.contains("Content-Type: text/event-stream\r\n"))
        #expect(head.contains("event: one\n"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.written()
        journal.append("later")
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(200))
        #expect(try channel.written().contains("event: later\n"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!channel.isActive)
    }

    /// Bug: a stream went on after its token had been replaced.
    @Test func aStreamEndsWithItsToken() throws {
        var routes = ControlRoutes()
        let journal = journal("one")
        routes.add("GET", "/events", answering: { .events(journal, $0, status: { .full }) })
        let (old, new) = (ControlToken("0123456789abcdef"), ControlToken("fedcba9876543210"))
        let tokens = ControlTokens(operator: old)
        let channel = try EmbeddedChannel.served(routes, tokens: tokens)
        defer { channel.end() }
        try channel.writeInbound(
            ByteBuffer(string: "GET /events HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n"))
        #expect(!tokens.replace(operator: old, metrics: nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try channel.written().hasPrefix("HTTP/1.1 200 OK\r\n") && channel.isActive)
        #expect(tokens.replace(operator: new, metrics: nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func oneThatDoesNotReadIsCutOff() throws {
        let channel = try channel(journal("one"))
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /events?status=250 HTTP/1.1\r\n\r\n"))
        channel.isWritable = false
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        #expect(channel.isActive)
        #expect(try !channel.written().contains("event:"), "written to a client that is full")
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func streamsAreBounded() throws {
        var limits = ControlLimits()
        limits.maxStreams = 0
        let channel = try channel(journal(), limits)
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /events HTTP/1.1\r\n\r\n"))
        #expect(try channel.written().hasPrefix("HTTP/1.1 503 "))
    }
}

extension EventJournal {
    func append(_ name: String, _ fields: [JSONValue.Member] = []) {
        append(EventRecord(time: "", level: "info", name: name, message: name, fields: fields))
    }
}
