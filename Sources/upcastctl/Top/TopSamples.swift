import ControlProtocol

/// The samples of the charts in `top`: one per second for the last ten minutes, first from `GET /history`, then from
/// each status.
struct TopSamples: Equatable {
    struct Sample: Equatable {
        var uptimeMilliseconds = 0
        var bitsPerSecond = 0
        var queueMilliseconds = 0
        var framesPerSecond = 0.0
        var memoryBytes = 0
    }

    static let capacity = 600
    private(set) var samples: [Sample] = []
    /// From the previous status; nil before the first.
    private var before: (uptime: Int, frames: Int)?

    static func == (a: TopSamples, b: TopSamples) -> Bool { a.samples == b.samples }

    init() {}

    /// Skips rows that lack a column or have values other than numbers.
    init(history: JSONValue) {
        guard case .array(let columns) = history["columns"], case .array(let rows) = history["rows"] else { return }
        func place(_ name: String) -> Int? { columns.firstIndex(of: .string(name)) }
        let places = [
            "uptime_ms", "video_bits_per_second", "queue_ms", "frames_per_second", "memory_bytes",
        ].compactMap(place)
        guard places.count == 5 else { return }
        for row in rows.suffix(Self.capacity) {
            guard case .array(let cells) = row else { continue }
            let values = places.compactMap { place -> Int? in
                guard place < cells.count, case .integer(let value) = cells[place], value >= 0 else { return nil }
                return value
            }
            guard values.count == 5, values[0] >= samples.last?.uptimeMilliseconds ?? 0 else { continue }
            samples.append(
                Sample(
                    uptimeMilliseconds: values[0], bitsPerSecond: values[1], queueMilliseconds: values[2],
                    framesPerSecond: Double(values[3]), memoryBytes: values[4]))
        }
    }

    /// Adds a status. A status of a restarted daemon discards the earlier samples.
    mutating func note(_ status: StatusReport) {
        let uptime = status.uptimeMilliseconds
        if uptime < samples.last?.uptimeMilliseconds ?? 0 { (samples, before) = ([], nil) }
        let frames = status.video.framesEncoded
        var sample = Sample(
            uptimeMilliseconds: uptime, bitsPerSecond: status.video.bitsPerSecond,
            queueMilliseconds: status.queue.milliseconds, framesPerSecond: samples.last?.framesPerSecond ?? 0,
            memoryBytes: status.memory.neededBytes)
        // A new broadcast counts its frames from zero.
        if let before, uptime > before.uptime {
            let new = frames >= before.frames ? frames - before.frames : frames
            sample.framesPerSecond = Double(new) * 1000 / Double(uptime - before.uptime)
        }
        before = (uptime, frames)
        samples.append(sample)
        if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
    }

    /// The last `seconds` in `count` cells: the maximum of each cell's time, or nil without samples.
    ///
    /// Cells start at multiples of their length, so that a chart moves by whole cells.
    func cells(_ count: Int, seconds: Int, _ value: (Sample) -> Double) -> [Double?] {
        guard count > 0, let last = samples.last else { return Array(repeating: nil, count: max(0, count)) }
        let length = max(1, (seconds + count - 1) / count) * 1000
        let newest = last.uptimeMilliseconds / length
        var cells = [Double?](repeating: nil, count: count)
        for sample in samples {
            let age = newest - sample.uptimeMilliseconds / length
            guard age >= 0, age < count else { continue }
            let index = count - 1 - age
            cells[index] = max(cells[index] ?? 0, value(sample))
        }
        return cells
    }
}
