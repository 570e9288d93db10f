import ControlProtocol
import MediaCore
import TestSupport
import Testing

@testable import Pipeline

/// Promise: `GET /history` has the last ten minutes, a row a second, and takes no more memory than that.
@Suite struct StatusHistoryTests {
    /// One column of all rows.
    private func column(_ name: String, of history: StatusHistory) throws -> [Int] {
        guard case .array(let names)? = history.json["columns"], case .array(let rows)? = history.json["rows"],
            let index = names.firstIndex(of: .string(name))
        else { return [] }
        return try rows.map { row in
            guard case .array(let values) = row, case .integer(let value) = values[index] else {
                throw TestFailure("\(row) is no row of integers")
            }
            return value
        }
    }

    @Test func theOldestRowsGoFirst() throws {
        var history = StatusHistory()
        for second in 1...605 {
            history.note(
                uptime: .seconds(Int64(second)), bitrate: 1000 + second, queued: .milliseconds(7), frames: 30 * second,
                memory: 5)
        }
        let uptimes = try column("uptime_ms", of: history)
        #expect(uptimes == (6...605).map { $0 * 1000 })
        #expect(try column("video_bits_per_second", of: history).last == 1605)
        #expect(try Set(column("queue_ms", of: history)) == [7])
        #expect(try Set(column("memory_bytes", of: history)) == [5])
        #expect(StatusHistory.memoryBytes == 600 * MemoryLayout<StatusHistory.Row>.stride)
    }

    /// A new broadcast counts its frames from 0.
    @Test func framesOfEachSecond() throws {
        var history = StatusHistory()
        for frames in [30, 61, 61, 4, 34] {
            history.note(uptime: .zero, bitrate: 0, queued: .zero, frames: frames, memory: 0)
        }
        #expect(try column("frames_per_second", of: history) == [30, 31, 0, 0, 30])
    }
}
