import ControlClient
import ControlProtocol
import Testing

@testable import upcastctl

/// What an operator writes, and what reaches the operator's terminal.
@Suite struct OperatorTextTests {
    @Test(arguments: [
        ("auto", nil), ("2500k", 2_500_000), ("2500K", 2_500_000), ("2.5M", 2_500_000), ("2500000", 2_500_000),
        ("1m", 1_000_000), ("0.5k", 500), ("1.234567M", 1_234_567),
    ] as [(String, Int?)])
    func bitrates(text: String, expected: Int?) throws {
        #expect(try #require(Bitrate(argument: text)).bitsPerSecond == expected)
    }

    @Test(arguments: [
        "", "k", "M", "-1", "+1", "1.5", "1.k", ".5M", "2 M", "2Mb", "1e6", "0", "0k", "1.2345k", "٣", "0x10", "1.2.3M",
        "99999999999999999999", "9999999999999999M", "Auto", "auto ",
    ])
    func noBitrates(text: String) { #expect(Bitrate(argument: text) == nil) }

    @Test(arguments: [
        ("http://127.0.0.1:9180", ControlAddress.tcp(host: "127.0.0.1", port: 9180, prefix: "")),
        ("HTTP://device/", .tcp(host: "device", port: 80, prefix: "")),
        ("http://[::1]:9180/a/b/", .tcp(host: "::1", port: 9180, prefix: "/a/b")),
        ("http://[::1]", .tcp(host: "::1", port: 80, prefix: "")),
    ])
    func urls(text: String, expected: ControlAddress) throws {
        #expect(try ControlAddress(url: text) == expected)
    }

    @Test(arguments: [
        "", "127.0.0.1:9180", "https://127.0.0.1", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:65536",
        "http://x:", "http://x:a", "http://x?y", "http://x/#y", "http://a@x", "http://x\r\nHost: y", "http://x y",
        "http://[]", "http://[::1", "http://ü",
    ])
    func noURLs(text: String) { #expect(throws: ControlAddress.Invalid.self) { try ControlAddress(url: text) } }

    @Test(arguments: [
        ("plain 画面 é", "plain 画面 é"), ("\u{1B}[31m", "?[31m"), ("a\nb\tc\rd", "a?b?c?d"), ("\u{9B}2J", "?2J"),
        ("\u{7F}\u{0}", "??"), ("a\u{202E}b\u{2066}c\u{200F}\u{2028}", "a?b?c??"),
        ("\u{200B}\u{FEFF}\u{AD}\u{E0041}", "????"),
    ])
    func nothingActsOnTheTerminal(text: String, expected: String) { #expect(TerminalText.printable(text) == expected) }

    /// It stays the JSON that it was.
    @Test func jsonForTerminals() throws {
        let value = JSONValue.object([
            .init("a\u{9B}", .string("\u{1B}\u{7F}\u{85}\u{202E}\u{2028}\n\"\\ 画 👍")),
            .init("b", .array([.integer(1)])),
        ])
        for pretty in [true, false] {
            let text = TerminalText.printable(json: value.serialized(pretty: pretty))
            #expect(try JSONParser.parse(Array(text.utf8)) == value)
            #expect(!text.unicodeScalars.contains { [0x1B, 0x7F, 0x85, 0x9B, 0x202E, 0x2028].contains($0.value) })
            #expect(text.contains("\n") == pretty)
        }
    }

    @Test(arguments: [("abc", 3), ("画面", 4), ("é", 1), ("e\u{301}", 1), ("👍🏽", 2), ("…▁█", 3), ("", 0)])
    func widths(text: String, cells: Int) { #expect(TerminalText.width(text) == cells) }

    @Test func fitting() {
        #expect(TerminalText.fitted("abcdef", to: 6) == "abcdef")
        #expect(TerminalText.fitted("abcdef", to: 5) == "abcd…")
        #expect(TerminalText.fitted("画面画面", to: 4) == "画…")
        #expect(TerminalText.fitted("abc", to: 0) == "")
        #expect(TerminalText.padded("画", to: 4) == "画  ")
    }

    @Test func events() throws {
        let text =
            #"{"time":"2026-11-22T09:25:01.253Z","level":"notice","message":"paused","#
            + #""fields":{"by":"an operator","n":"1\u001b"}}"#
        let event = EventRecord(json: try JSONParser.parse(Array(text.utf8)))
        #expect(EventText.line(event) == #"2026-11-22T09:25:01.253Z notice paused by="an operator" n="1\u001b""#)
        #expect(EventText.short(event) == #"09:25:01 paused by="an operator" n="1\u001b""#)
        let retrying =
            #"{"time":"2026-11-22T09:25:01.253Z","level":"warning","message":"destination retrying","fields":{"#
            + #""destination":"main","attempt":2,"held_by":["a","b"],"now":"trying again in 1 s","#
            + #""why":"\"main\" (rtmp://h/app): cannot connect"}}"#
        #expect(
            EventText.short(EventRecord(json: try JSONParser.parse(Array(retrying.utf8))))
                == #"09:25:01 warning destination retrying destination=main attempt=2 held_by="a, b": "#
                + "cannot connect; trying again in 1 s")
        #expect(EventText.line(EventRecord(json: .null)) == "? ? ?")
    }

    /// Promise: on a terminal, warnings and errors stand out from what is in order.
    @Test(arguments: [
        ("info", TopLine.Colour.plain), ("notice", .plain), ("warning", .warning), ("error", .bad), ("critical", .bad),
        ("", .plain),
    ])
    func levelsHaveColours(level: String, colour: TopLine.Colour) {
        #expect(TopEvent("", level: level).colour == colour)
    }

    /// Every name of the configuration, as grep finds it.
    @Test func aConfiguration() throws {
        let json = try JSONParser.parse(
            Array(#"{"video":{"width":1280,"options":{}},"destinations":[{"name":"a\u001b"}]}"#.utf8))
        #expect(
            ConfigShowCommand.text(json)
                == "video.width = 1280\nvideo.options = {}\ndestinations[0].name = \"a\\u001b\"\n")
    }

    @Test func aPlan() {
        var memory = MemoryStatus()
        memory.plan = [Counter("video_encoder", 12_700_000), Counter("tls", 0)]
        (memory.planBytes, memory.capBytes) = (12_700_000, 52_428_800)
        #expect(
            PlanCommand.text(memory) == """
                video encoder     12.1 MiB
                tls                    0 B
                total             12.1 MiB
                memory.cap_bytes  50.0 MiB

                """)
    }
}
