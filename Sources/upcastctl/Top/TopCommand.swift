import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc
import LinuxSystem
import MediaCore

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show live statistics with charts; press ? for keys, q to quit.",
        discussion: """
            Keys: c raises the curtain, or releases the operator's hold after a question; p pauses and resumes; r \
            retries waiting destinations; k requests a keyframe; ? shows help; q quits. If no status comes for three \
            seconds, the figures are grey and a line says since when.

            If standard output is not a terminal, the command prints one screen of 80 columns and 24 rows. Set \
            NO_COLOR in the environment to disable colours.
            """)
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print each status as one JSON object per line until interrupted.")
    var json = false

    func run() throws {
        if json { return try printStatuses(of: try control.client()) }
        var client = try control.client()
        client.timeout = .seconds(2)
        let feed = TopFeed(client)
        try feed.connect()
        guard Output.isTerminal else { return try showOnce(feed) }
        let signals: SignalDescriptor
        do { signals = try SignalDescriptor([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP]) } catch {
            throw ControlClientError.unusable("cannot wait for signals: \(error)")
        }
        let terminal = Terminal()
        defer { terminal.restore() }
        do {
            try terminal.take()
            let ending = try follow(feed, on: terminal, signals)
            terminal.restore()
            // The exit status reports the signal, as for a program that does not catch it.
            if let ending { throw ExitCode(128 + ending) }
        } catch let error as Errno {
            throw ControlClientError.unusable("cannot use the terminal: \(error)")
        }
    }

    /// Prints the statuses from which the charts are drawn.
    private func printStatuses(of client: ControlClient) throws {
        let connection = try EventConnection(client, "/events?status=1000")
        while connection.wait(seconds: EventsCommand.silenceSeconds) {
            for event in try connection.next() where event.name == "status" {
                guard let status = try? JSONParser.parse(Array(event.data.utf8)) else {
                    throw ControlClientError.unintelligible("an event is not JSON")
                }
                OutputOptions.print(status, pretty: false)
            }
        }
        throw ControlClientError.unreachable("the daemon has sent nothing for \(EventsCommand.silenceSeconds) s")
    }

    private func showOnce(_ feed: TopFeed) throws {
        let clock = MonotonicClock()
        let deadline = clock.now() + .seconds(3)
        while feed.screen.status == nil, feed.screen.trouble == nil,
            feed.wait(until: deadline)
        { feed.update(isTick: false) }
        guard feed.screen.status != nil else {
            throw ControlClientError.unreachable(feed.screen.trouble ?? "the daemon sends no status")
        }
        for line in feed.screen.lines(columns: 80, rows: 24, inColour: false).dropLast() { Output.line(line) }
    }

    /// Draws until the user presses q (nil) or a signal ends the command.
    private func follow(
        _ feed: TopFeed, on terminal: Terminal, _ signals: borrowing SignalDescriptor
    ) throws -> CInt? {
        let inColour = Output.wantsColour
        let clock = MonotonicClock()
        var keys = terminal.keys
        var nextTick = clock.now() + .seconds(1)
        while true {
            let size = Terminal.size
            feed.noteTime()
            try terminal.draw(feed.screen.lines(columns: size.columns, rows: size.rows, inColour: inColour))
            var waiting = [
                pollfd(fd: signals.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: keys, events: Int16(POLLIN), revents: 0),
                pollfd(fd: feed.raw, events: Int16(POLLIN), revents: 0),
            ]
            let left = max(0, (nextTick - clock.now()).milliseconds)
            _ = unsafe poll(&waiting, nfds_t(waiting.count), CInt(left))
            while let signal = signals.next() {
                switch signal {
                case SIGWINCH: continue
                case SIGTSTP: try suspend(terminal)
                default: return signal
                }
            }
            if waiting[1].revents != 0 {
                guard let pressed = terminal.pressed() else {
                    keys = -1
                    continue
                }
                guard feed.press(pressed) else { return nil }
            }
            let isTick = clock.now() >= nextTick
            if isTick { nextTick = clock.now() + .seconds(1) }
            if isTick || waiting[2].revents != 0 { feed.update(isTick: isTick) }
        }
    }

    /// Handles Ctrl-Z: the shell has the terminal until the process continues.
    private func suspend(_ terminal: Terminal) throws {
        terminal.restore()
        raise(SIGSTOP)
        try terminal.take()
    }
}
