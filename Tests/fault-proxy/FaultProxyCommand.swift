import ArgumentParser
import FaultProxy
import Glibc
import LinuxSystem
import MediaCore

@main struct FaultProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault-proxy",
        abstract: "A TCP proxy on 127.0.0.1 that does what networks do, on command.",
        discussion: """
            Commands, one a line on standard input; each line is answered with "ok" or a reason:
              rate BITS|off          bits a second in each direction: 300k, 8M
              delay TIME             bytes arrive so much later: 300ms, 2s
              stall                  nothing is read any more, nobody is accepted
              blackhole              everything is taken and thrown away
              resume                 ends stall and blackhole; a connection that lost bytes is reset
              reset, close           both ends of every connection get a RST, or a FIN
              corrupt up|down BYTES  inverts the next bytes to the server, or to the client: 20B, 4kB
              refuse, unreachable    connections are refused, or their SYNs ignored
              listen                 ends refuse and unreachable
              clear                  a link without faults
              figures                what has gone through
            A schedule puts moments before the commands, which count from when it is given; bytes are those to the
            server: 0s rate 8M; 10s rate 1M; 20s clear; 4MB reset
            The end of standard input ends the proxy.
            """)

    @Option(help: "Port to listen at; 0 for a free one.") var listen: UInt16 = 0
    @Option(help: "The server's port.") var to: UInt16
    @Option(help: "A schedule to begin with.") var schedule = ""

    func run() throws {
        let first = try LinkSchedule(schedule)
        let clock = MonotonicClock()
        let start = clock.now()
        let proxy = try FaultProxy(to: to, port: listen) { command in
            Self.say("\(clock.now() - start) \(command)")
        }
        Self.say("listening \(proxy.port)")
        try proxy.run(first)
        while let line = readLine() {
            if line == "figures" {
                let figures = proxy.figures
                Self.say("""
                    accepted \(figures.accepted) open \(figures.open) broken \(figures.broken) up \(figures.bytesUp) \
                    down \(figures.bytesDown) swallowed \(figures.bytesSwallowed)
                    """)
                continue
            }
            do {
                try proxy.run(LinkSchedule(line))
                Self.say("ok")
            } catch {
                Self.say("error: \(error)")
            }
        }
    }

    /// A whole line at once: the proxy's thread speaks too, and whoever reads waits for it.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
