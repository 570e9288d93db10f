import ControlClient
import ControlProtocol
import Testing

@testable import upcastctl

/// What `upcastctl top` draws.
@Suite struct TopTests {
    private var screen: TopScreen {
        var screen = TopScreen()
        screen.status = .full
        for second in 0..<400 {
            var status = StatusReport.full
            status.uptimeMilliseconds = (3_320 + second) * 1000
            status.video.framesEncoded = 30 * second
            status.video.bitsPerSecond = second < 200 ? 0 : 2_500_000
            screen.samples.note(status)
        }
        screen.events = (1...50).map { TopEvent("09:25:0\($0 % 10) event \($0)") }
        screen.place = "/run/upcast/control.sock"
        return screen
    }

    /// Everything in full; what does not fit into a line goes on in the next one.
    @Test func aTerminal() {
        let expected = """
            impaired for 12 min 2 s                       upcastd 0.1.0, up 1 h 2 min
            client   Screen "1" (display) for 12 min 3 s
            curtain  up, held by app:kiosk of user 1000 (will resign active) for 1.5
                     s
            hidden   1 region
            canvas   1280x720 at 30000/1001 frames/s, libx264 low from 1920x1080
                     420v, orientation 6
            bitrate  2481 of 2500 kbit/s    ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█████████████████████████
            queue    0.1 of 3.0 s           ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
            frames   30.0 frames/s, 1 in 2  █████████████████████████████████████████
            memory   31.4 of 47.6 MiB       ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
            drops    superseded 2, too late 1

            DESTINATION  STATE         FOR         LAG      RECONNECTS  WHERE
            main         congested     1 min 30 s  960 ms   1           rtmp://live.…
              retry in 2.5 s; the server closed?the connection (12.0 s ago);
              disposable 12
            recording    live          -           0 ms     0           file:/var/li…

            EVENTS (UTC)
            09:25:09 event 49
            09:25:00 event 50
            q quit  c curtain  p pause  r retry  k keyframe  ? help
            """
        let lines = screen.lines(columns: 73, rows: 23, inColour: false)
        #expect(lines.joined(separator: "\n") == expected, "\n\(lines.joined(separator: "\n"))")
    }

    /// Rows and columns that a large terminal has are used: charts side by side and taller, and more events.
    @Test func aLargeTerminal() {
        let lines = screen.lines(columns: 120, rows: 40, inColour: false)
        #expect(lines[0].hasSuffix("upcastd 0.1.0 at /run/upcast/control.sock, up 1 h 2 min"))
        let bitrate = lines.firstIndex { $0.hasPrefix("bitrate") } ?? 0
        #expect(lines[bitrate].contains("queue    0.1 of 3.0 s"))
        let frames = lines.firstIndex { $0.hasPrefix("frames") } ?? 0
        #expect(frames - bitrate >= 5 && lines[frames].contains("memory   31.4 of 47.6 MiB"), "\(lines)")
        #expect(lines[bitrate + 1].hasPrefix("         last 5 min"))
        #expect(lines.filter { $0.contains(" event ") }.count >= 10)
        // No row is empty but those between parts.
        #expect(lines.filter(\.isEmpty).count <= 2, "\(lines)")
        #expect(lines[38] == "09:25:00 event 50")
    }

    /// A long reason is there in full, also as an event, and the charts make room for it.
    @Test func reasonsAreWhole() {
        var screen = screen
        let words = (1...40).map { "word\($0)" }
        screen.status?.destinations[0].lastError = words.joined(separator: " ")
        screen.status?.destinations[0].state = .reconnecting
        screen.events = [TopEvent("09:25:01 destination retrying: " + words.joined(separator: " "), level: "error")]
        let lines = screen.lines(columns: 80, rows: 30, inColour: false)
        let shown = lines.joined(separator: " ").split(separator: " ").filter { $0.hasPrefix("word") }
        #expect(shown.count == 80, "\(lines)")
    }

    /// Old figures are grey, and the first line says how old and why.
    @Test func figuresThatAreOld() {
        var screen = screen
        screen.trouble = "nothing listens at /run/upcast/control.sock: upcastd ended without removing it"
        (screen.silentMilliseconds, screen.lastStatusTime) = (12_300, "09:25:02 UTC")
        let lines = screen.lines(columns: 80, rows: 24, inColour: true)
        #expect(
            lines[0] == "\u{1B}[1;37;41mNO ANSWER for 12 s: last figures are from 09:25:02 UTC\u{1B}[0m", "\(lines[0])")
        let plain = screen.lines(columns: 80, rows: 24, inColour: false)
        #expect(plain[1...2].joined(separator: " ").hasSuffix("without removing it; retrying"), "\(plain)")
        for line in lines[3..<23] where !line.isEmpty {
            #expect(line.hasPrefix("\u{1B}[2m"))
            #expect(line.matches(of: /\u{1B}\[[1-9]/).count == line.matches(of: /\u{1B}\[2m/).count, "\(line)")
        }
        // A connection that says nothing looks the same, and one that has just said something does not.
        (screen.trouble, screen.silentMilliseconds) = (nil, 3_000)
        #expect(screen.lines(columns: 80, rows: 24, inColour: false)[1] == "the daemon sends no status")
        screen.silentMilliseconds = 2_999
        #expect(screen.lines(columns: 80, rows: 24, inColour: false)[0].hasPrefix("impaired for"))
    }

    @Test func helpAndQuestions() {
        var screen = screen
        _ = screen.keys.press(Array("?".utf8), screen.status)
        let help = screen.lines(columns: 40, rows: 12, inColour: false)
        #expect(help[0] == "KEYS" && help[1].hasPrefix("  c  raise the curtain"))
        for (key, _) in TopKeys.help { #expect(help.contains { $0.hasPrefix("  \(key)  ") }) }
        screen.keys = TopKeys()
        screen.notice = .init(text: "not paused: the daemon answered 409: no broadcast is running", isBad: true)
        let noted = screen.lines(columns: 40, rows: 10, inColour: false)
        #expect(noted.suffix(2).joined(separator: " ").hasSuffix("no broadcast is running"), "\(noted)")
        screen.status?.privacy.curtain.holders[0].holder = "operator"
        _ = screen.keys.press(Array("c".utf8), screen.status)
        #expect(screen.lines(columns: 60, rows: 10, inColour: false).last == TopKeys.question)
    }

    /// As many lines as rows, and no cell too many, with anything in names.
    @Test func everySizeFits() {
        var screen = screen
        screen.status?.client?.name = "画面\u{1B}[31m\u{202E}👍🏽é" + String(repeating: "ｗ", count: 200)
        screen.status?.destinations = (0..<8).map { number in
            var one = StatusReport.full.destinations[0]
            one.name = number == 3 ? String(repeating: "名", count: 30) : "d\(number)"
            one.lastError = "\u{9B}31m\n\u{2028}bad"
            return one
        }
        for columns in [1, 2, 20, 59, 60, 61, 80, 133, 400] {
            for rows in [1, 2, 5, 15, 16, 17, 24, 60] {
                for isThere in [true, false] {
                    var shown = screen
                    if !isThere { shown.status = nil }
                    shown.trouble = rows == 16 ? "the daemon at \(String(repeating: "x", count: 300))" : nil
                    let lines = shown.lines(columns: columns, rows: rows, inColour: false)
                    #expect(lines.count == rows, "\(columns)x\(rows)")
                    for line in lines {
                        #expect(TerminalText.width(line) <= columns, "\(columns)x\(rows): \(line)")
                        #expect(TerminalText.printable(line) == line, "\(line)")
                    }
                }
            }
        }
    }

    /// Colours are all that is added, and each ends on its line.
    @Test func colours() {
        let plain = screen.lines(columns: 60, rows: 16, inColour: false)
        let coloured = screen.lines(columns: 60, rows: 16, inColour: true)
        #expect(coloured.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") } == plain)
        #expect(coloured[0].hasPrefix("\u{1B}[33mimpaired\u{1B}[0m"))
        for line in coloured where line.contains("\u{1B}") {
            #expect(line.matches(of: /\u{1B}\[0m/).count * 2 == line.matches(of: /\u{1B}\[/).count, "\(line)")
        }
    }

    /// A small terminal shows every destination that has room, and counts the others.
    @Test func moreDestinationsThanRows() {
        var screen = screen
        screen.status?.privacy = PrivacyStatus()
        screen.status?.destinations = (0..<8).map { number in
            var one = DestinationStatus()
            (one.name, one.state) = ("d\(number)", .live)
            return one
        }
        let lines = screen.lines(columns: 60, rows: 10, inColour: false)
        #expect(lines.contains { $0.hasPrefix("d0  ") } && lines.contains("and 3 more"), "\(lines)")
        #expect(lines.last?.hasPrefix("q quit") == true)
        screen.status?.destinations = []
        #expect(screen.lines(columns: 60, rows: 16, inColour: false).contains("no destinations"))
    }

    /// What is hidden from viewers and which destinations fail is there on the smallest terminal.
    @Test func aSmallTerminal() {
        let lines = screen.lines(columns: 40, rows: 10, inColour: false)
        #expect(lines[0].hasPrefix("impaired for 12 min 2 s") && lines[1].hasPrefix("curtain  up, held by"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("main ") } && lines.contains { $0.hasPrefix("bitrate") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  retry in 2.5 s") } && lines.last == "q quit  ? help", "\(lines)")
    }

    @Test func troubleIsShown() {
        var screen = TopScreen()
        screen.place = "/run/x.sock"
        screen.trouble = "the daemon has ended the stream"
        let lines = screen.lines(columns: 60, rows: 3, inColour: false)
        #expect(lines.prefix(2) == ["upcastd at /run/x.sock", "the daemon has ended the stream; retrying"])
    }

    @Test func sparklines() {
        #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7], top: 7) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([nil, 5, -1, .nan, .infinity, 100], top: 10) == " ▅▁  █")
        #expect(Sparkline.text([1, 2], top: 0) == "▁▁")
        #expect(Sparkline.text([], top: 1) == "")
        #expect(Sparkline.rows([nil, 0, 5, 10], top: 10, height: 2) == ["  ▁█", " ▁██"])
        #expect(Sparkline.rows([10], top: 10, height: 3) == ["█", "█", "█"])
    }
}

/// The minutes behind the curves.
@Suite struct TopSamplesTests {
    private func history(_ rows: String, columns: String? = nil) throws -> TopSamples {
        let names =
            columns ?? #""uptime_ms","video_bits_per_second","queue_ms","frames_per_second","memory_bytes""#
        return TopSamples(
            history: try JSONParser.parse(
                Array(#"{"interval_ms":1000,"columns":[\#(names)],"rows":[\#(rows)]}"#.utf8)))
    }

    private func status(_ uptime: Int, frames: Int) -> StatusReport {
        var status = StatusReport()
        status.uptimeMilliseconds = uptime
        status.video.framesEncoded = frames
        return status
    }

    @Test func aHistory() throws {
        #expect(
            try history("[1000,2,3,4,5]").samples
                == [
                    .init(
                        uptimeMilliseconds: 1000, bitsPerSecond: 2, queueMilliseconds: 3, framesPerSecond: 4,
                        memoryBytes: 5)
                ])
        // Columns are found by name; new ones may come.
        #expect(
            try history(
                "[9,5,4,3,2,1000]",
                columns: #""new","memory_bytes","frames_per_second","queue_ms","video_bits_per_second","uptime_ms""#)
                == history("[1000,2,3,4,5]"))
    }

    @Test(arguments: ["1", "[]", "[1,2,3,4]", "[-1,2,3,4,5]", "[1,2,3,4,null]", "[1,2,3,4,1e300]", "{}", "null"])
    func rowsThatAreNone(row: String) throws { #expect(try history(row).samples.isEmpty) }

    @Test func otherAnswers() throws {
        #expect(TopSamples(history: .null).samples.isEmpty)
        #expect(try history("[1,2,3,4,5]", columns: "").samples.isEmpty)
    }

    @Test func framesASecond() throws {
        var samples = try history("[1000,2,3,25,5]")
        samples.note(status(2000, frames: 100))
        samples.note(status(3000, frames: 130))
        samples.note(status(3500, frames: 145))
        // A new broadcast.
        samples.note(status(4500, frames: 15))
        #expect(samples.samples.map(\.framesPerSecond) == [25, 25, 30, 30, 15])
        // Twice the same moment, then a daemon that was started anew.
        samples.note(status(4500, frames: 15))
        samples.note(status(100, frames: 3))
        #expect(samples.samples.map(\.uptimeMilliseconds) == [100])
    }

    @Test func itIsBounded() {
        var samples = TopSamples()
        for second in 0..<2000 { samples.note(status(second * 1000, frames: 0)) }
        #expect(samples.samples.count == TopSamples.capacity)
        #expect(samples.samples.last?.uptimeMilliseconds == 1_999_000)
    }

    @Test func cells() {
        var samples = TopSamples()
        for second in 0..<10 { samples.note(status(second * 1000, frames: 0)) }
        let uptime = { (sample: TopSamples.Sample) in Double(sample.uptimeMilliseconds / 1000) }
        #expect(samples.cells(4, seconds: 4, uptime) == [6, 7, 8, 9])
        #expect(samples.cells(5, seconds: 20, uptime) == [nil, nil, 3, 7, 9])
        #expect(samples.cells(0, seconds: 4, uptime) == [])
        #expect(TopSamples().cells(2, seconds: 4, uptime) == [nil, nil])
    }
}
