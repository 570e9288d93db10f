package import ControlProtocol
internal import MediaCore

/// The last ten minutes, one row a second, for plots. Its memory is allocated with the first row.
package struct StatusHistory: Sendable {
    package struct Row: Sendable {
        var uptimeMilliseconds: Int
        var videoBitsPerSecond: Int
        var queueMilliseconds: Int
        /// Frames that were encoded in this second, with repeats.
        var framesPerSecond: Int
        /// Anonymous memory and code in use.
        var memoryBytes: Int
    }

    static let capacity = 600
    static let intervalMilliseconds = 1000
    /// Bytes of a full history.
    static let memoryBytes = capacity * MemoryLayout<Row>.stride

    private var rows: [Row] = []
    private var oldest = 0
    private var framesBefore = 0

    init() {}

    /// - Parameter frames: encoded since the broadcast began.
    mutating func note(uptime: MediaTime, bitrate: Int, queued: MediaTime, frames: Int, memory: Int) {
        if rows.isEmpty { rows.reserveCapacity(Self.capacity) }
        let row = Row(
            uptimeMilliseconds: Int(uptime.milliseconds), videoBitsPerSecond: bitrate,
            queueMilliseconds: Int(queued.milliseconds), framesPerSecond: max(0, frames - framesBefore),
            memoryBytes: memory)
        framesBefore = frames
        if rows.count < Self.capacity {
            rows.append(row)
        } else {
            rows[oldest] = row
            oldest = (oldest + 1) % Self.capacity
        }
    }

    /// The JSON of `GET /history`, the oldest row first.
    package var json: JSONValue {
        let columns = ["uptime_ms", "video_bits_per_second", "queue_ms", "frames_per_second", "memory_bytes"]
        return .object([
            .init("interval_ms", .integer(Self.intervalMilliseconds)),
            .init("columns", .array(columns.map(JSONValue.string))),
            .init(
                "rows",
                .array(
                    (rows[oldest...] + rows[..<oldest]).map { row in
                        .array(
                            [
                                row.uptimeMilliseconds, row.videoBitsPerSecond, row.queueMilliseconds,
                                row.framesPerSecond, row.memoryBytes,
                            ].map(JSONValue.integer))
                    })),
        ])
    }
}
