import CaptureSources
import Foundation
import Glibc
import LinuxSystem
import Testing

@Suite struct ReadAheadTests {
    /// A writer with far more than a pipe holds comes to its end though nobody takes the bytes, and all of them arrive.
    @Test func theWriterNeedNotWait() throws {
        let (reading, writing) = try ends()
        defer { close(reading) }
        let stop = try StopSignal()
        let ahead = try ReadAhead(FileInput(path: "/proc/self/fd/\(reading)", stop: stop), capacity: 1 << 20)
        defer {
            stop.stop()
            ahead.close()
        }
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        #expect(write(bytes, to: writing))
        close(writing)
        var taken: [UInt8] = []
        let reader = InputReader(ahead)
        while case let piece = try reader.peek(7919), !piece.isEmpty {
            taken += piece
            _ = try reader.skip(piece.count)
        }
        #expect(taken == bytes)
    }

    /// No more is read than fits: the rest stays with the writer, and comes in its order, round and round.
    @Test func whatDoesNotFitWaits() throws {
        let (reading, writing) = try ends()
        defer { close(reading) }
        let stop = try StopSignal()
        let ahead = try ReadAhead(FileInput(path: "/proc/self/fd/\(reading)", stop: stop), capacity: 10_000)
        defer {
            stop.stop()
            ahead.close()
        }
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let thread = try WorkerThread(name: "writes", stackBytes: 512 * 1024) {
            _ = write(bytes, to: writing)
            close(writing)
        }
        var taken = [UInt8](repeating: 0, count: bytes.count + 1)
        #expect(try InputReader(ahead).fill(&taken, count: taken.count) == bytes.count)
        #expect(taken.dropLast() == bytes[...])
        thread.join()
    }

    /// Both ways that the thread can be waiting in: for the writer, and for room.
    @Test(arguments: [0, 60_000]) func aStopEndsIt(written: Int) throws {
        let (reading, writing) = try ends()
        defer { close(writing) }
        defer { close(reading) }
        let stop = try StopSignal()
        let ahead = try ReadAhead(FileInput(path: "/proc/self/fd/\(reading)", stop: stop), capacity: 4096)
        #expect(write([UInt8](repeating: 1, count: written), to: writing))
        stop.stop()
        ahead.close()
        #expect(!(try InputReader(ahead).skip(written + 1)))
    }

    /// Who has only the reading end of a pipe does not write to it.
    @Test func whoWritesBothPipes() throws {
        let (first, second) = (try ends(), try ends())
        defer { for end in [first.reading, second.reading, first.writing] { close(end) } }
        let stop = try StopSignal()
        let pipes = try [first, second].map { try FileInput(path: "/proc/self/fd/\($0.reading)", stop: stop) }
        let name = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).prefix { $0 != "\n" }
        #expect(PipeWriters.isOne(String(name), of: pipes))
        #expect(!PipeWriters.isOne("no-such-program", of: pipes))
        close(second.writing)
        #expect(!PipeWriters.isOne(String(name), of: pipes))
    }

    private func ends() throws -> (reading: CInt, writing: CInt) {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

private func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
