import Configuration
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import upcastd

@Suite struct StandardErrorFileTests {
    /// A disk that hangs until it is told to go on.
    private final class Disk: Sendable {
        let state = Monitor((lines: [String](), isHanging: false, asked: 0))
        func write(_ line: String) {
            state.signal { $0.asked += 1 }
            _ = state.wait { $0.isHanging ? nil : true }
            state.signal { $0.lines.append(line) }
        }
        func hang(_ isHanging: Bool) { state.signal { $0.isHanging = isHanging } }
    }

    /// A terminal takes a byte, says `poll`, and then a line waits until somebody reads.
    @Test func onlyAPipeAndASocketNeverHang() throws {
        var (pipe, sockets): ([CInt], [CInt]) = ([0, 0], [0, 0])
        try #require(Glibc.pipe(&pipe) == 0 && socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)).
        var (lock, number): (CInt, CInt) = (0, 0)
        try #require(ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let ours = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        let file = fileno(tmpfile())
        defer { for descriptor in pipe + sockets + [terminal, ours] { close(descriptor) } }
        try #require(isatty(ours) == 1)
        #expect(StandardErrorFile.isNeeded(for: ours) && StandardErrorFile.isNeeded(for: file))
        #expect(!StandardErrorFile.isNeeded(for: pipe[1]) && !StandardErrorFile.isNeeded(for: sockets[0]))
    }

    /// Whoever logs goes on when the line is written, and not before.
    @Test func aLineIsThereAtOnce() throws {
        let state = Monitor((written: 0, logged: 0))
        // The thread may be held up for longer than a line waits as a rule.
        let file = try StandardErrorFile(LogLines(), patience: .seconds(60)) { _ in
            let before = state.withLock { $0.logged }
            // For whoever does not wait to go on.
            _ = state.wait(until: MonotonicClock().now() + .milliseconds(50)) {
                $0.logged > before ? true : nil
            }
            state.signal { $0.written += 1 }
        }
        for number in 1...3 {
            file.put("\(number)\n")
            let written = state.signal { state in
                state.logged = number
                return state.written
            }
            #expect(written == number)
        }
        file.end(within: .seconds(10))
    }

    /// Nobody waits for it but the first; what finds no room is counted.
    @Test func aDiskThatHangs() throws {
        let disk = Disk()
        let file = try StandardErrorFile(LogLines(format: .json, isJournal: true), write: disk.write)
        disk.hang(true)
        file.put("first\n")
        try waitFor("the first line to be in the writer's hands") { disk.state.withLock { $0.asked } == 1 }
        let many = StandardErrorFile.capacity + 10
        let began = MonotonicClock().now()
        for number in 0..<many { file.put("\(number)\n") }
        // Had each of them waited, this would be 26 s.
        #expect(MonotonicClock().now() - began < .seconds(10))
        disk.hang(false)
        let kept = StandardErrorFile.capacity + 1
        try waitFor("the rest") { disk.state.withLock { $0.lines.count } == kept }
        file.put("last\n")
        file.end(within: .seconds(10))
        let notice =
            #"<4>{"level":"warning","message":"log lines were lost because standard error was blocked","count":10}"#
        #expect(disk.state.withLock { $0.lines.last } == notice + "\nlast\n")
    }
}
