import SeededRandom
import Testing

@testable import ControlClient

/// What upcastctl takes as an answer, from whoever listens there.
@Suite struct HTTPAnswerTests {
    /// Feeds a text in pieces of `size` bytes and ends the connection.
    private func read(_ text: String, inPiecesOf size: Int = 7) throws -> (HTTPAnswerParser.Head?, String) {
        var parser = HTTPAnswerParser()
        var body: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            body += try parser.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        if !parser.isComplete { try parser.end() }
        return (parser.head, String(decoding: body, as: UTF8.self))
    }

    /// The capture socket answers with messages of its own protocol.
    @Test(arguments: [1, 2, 20]) func theCaptureSocket(size: Int) {
        #expect(throws: ControlClientError.captureSocket) {
            try read("UC\u{1}\u{4}and what follows it\r\n\r\n", inPiecesOf: size)
        }
    }

    @Test(arguments: [1, 2, 3, 5, 1000])
    func threeFramings(size: Int) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\n"
        for rest in [
            "Content-Length: 5\r\n\r\nhello", "\r\nhello", "content-LENGTH:5 \r\n\r\nhello",
            "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
        ] {
            let (parsed, body) = try read(head + rest, inPiecesOf: size)
            #expect(parsed == .init(status: 200, mediaType: "text/plain") && body == "hello", "\(rest)")
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99 x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    ])
    func otherAnswersAreNotUnderstood(text: String) {
        #expect(throws: ControlClientError.self) { try read(text) }
    }

    @Test(arguments: [
        "x\r\n", "-1\r\n", "+5\r\nhello", "0x5\r\n", "\r\n", ";\r\n", "5\nhello\r\n", "FFFFFFFFF\r\n", "7FFFFFFF\r\n",
        "2\r\nabc\r\n", "2\r\nab\n\n", " 5\r\nhello", "5\r\nhello\r\n", "5\r\nhel", "0\r\n", "0\r\nX: y\r\n",
    ])
    func chunksThatAreNone(body: String) {
        #expect(throws: ControlClientError.self) {
            try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        }
    }

    /// Nothing that goes on for ever is kept for ever.
    @Test func linesWithoutEnd() throws {
        var head = HTTPAnswerParser()
        #expect(throws: ControlClientError.self) {
            for _ in 0..<100 { _ = try head.feed(Array(repeating: 0x61, count: 1000)[...]) }
        }
        for start in ["", "5;", "0\r\n"] {
            var decoder = ChunkedDecoder()
            _ = try decoder.feed(Array(start.utf8)[...])
            #expect(throws: ControlClientError.self) {
                for _ in 0..<10 { _ = try decoder.feed(Array(repeating: 0x61, count: 1000)[...]) }
            }
        }
    }

    /// Any bytes whatever: an error or a body no longer than what came, and never a trap.
    @Test func noise() throws {
        var random = SplitMix64(seed: 20_261_122)
        let words = ["0", "5", "a", "\r\n", "\n", "\r", ";", "F", " ", "-", "hello", "\u{0}", "7fffffff"]
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...20, using: &random) { text += words.randomElement(using: &random) ?? "" }
            var decoder = ChunkedDecoder()
            if let body = try? decoder.feed(Array(text.utf8)[...]) { #expect(body.count <= text.utf8.count) }
        }
    }
}

/// Server-sent events as they come.
@Suite struct EventParserTests {
    private func parse(_ text: String, inPiecesOf size: Int = 3) throws -> (events: [ServerEvent], lastID: String) {
        var parser = EventParser()
        var events: [ServerEvent] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            events += try parser.feed(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return (events, parser.lastID)
    }

    @Test(arguments: [1, 2, 100])
    func anEvent(size: Int) throws {
        for end in ["\n", "\r\n", "\r"] {
            let text = [": ping", "", "id: 7", "event: a", "data: {", "data:}", "", "data: x", "", "id: 8", "data", ""]
                .joined(separator: end)
            let (events, lastID) = try parse(text + end, inPiecesOf: size)
            #expect(
                events == [
                    .init(id: "7", name: "a", data: "{\n}"), .init(id: "7", name: "", data: "x"),
                    .init(id: "8", name: "", data: ""),
                ], "\(events)")
            #expect(lastID == "8")
        }
    }

    /// Signs of life are whole lines between two events.
    @Test func comments() throws {
        var parser = EventParser()
        for (text, count) in [
            (": a", 0), ("\n", 1), ("\n:\n", 2), ("data: x\n: b\n", 2), ("\n:c\n", 3), ("event: x\n:\n", 3),
            ("\n:\n", 4),
        ] {
            _ = try parser.feed(Array(text.utf8))
            #expect(parser.comments == count, "\(text)")
        }
    }

    /// What is half there is no event yet, and an event without data is none.
    @Test func halves() throws {
        #expect(try parse("event: a\ndata: 1\n").events.isEmpty)
        #expect(try parse("event: a\n\n").events.isEmpty)
    }

    /// It goes into a header of the next request.
    @Test func anIDThatIsNoNumberIsLeftOut() throws {
        for id in ["1 2", "x", "-1", "123456789012345678901", "1\u{0}"] {
            #expect(try parse("id: 5\nid: \(id)\ndata: x\n\n").lastID == "5", "\(id)")
        }
    }

    @Test func anEventWithoutEnd() {
        for line in ["data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxx"] {
            #expect(throws: ControlClientError.self) {
                var parser = EventParser()
                for _ in 0..<20_000 { _ = try parser.feed(Array(line.utf8)) }
            }
        }
    }
}
