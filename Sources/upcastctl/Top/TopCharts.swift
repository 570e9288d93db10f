import ControlClient
import ControlProtocol

/// The charts of `top`: bitrate, queue, frames and memory of the last minutes. Pure.
struct TopCharts {
    static let seconds = 300
    /// From this width on, two charts fit side by side.
    static let gridColumns = 110

    private struct Chart {
        var label: String
        var text: String
        var top: Double
        var value: (TopSamples.Sample) -> Double
    }

    private let charts: [Chart]
    private let samples: TopSamples
    private let columns: Int
    private let labelWidth: Int

    init(_ status: StatusReport, _ samples: TopSamples, columns: Int, labelWidth: Int) {
        (self.samples, self.columns, self.labelWidth) = (samples, columns, labelWidth)
        let (video, queue, memory) = (status.video, status.queue, status.memory)
        let last = samples.samples.last ?? .init()
        let limit = memory.limitBytes > 0 ? memory.limitBytes : memory.capBytes
        let divisor = video.frameRateDivisor > 1 ? ", 1 in \(video.frameRateDivisor)" : ""
        charts = [
            Chart(
                label: "bitrate", text: "\(video.bitsPerSecond / 1000) of \(Quantity.rate(video.targetBitsPerSecond))",
                top: Double(max(video.targetBitsPerSecond, samples.samples.reduce(0) { max($0, $1.bitsPerSecond) })),
                value: { Double($0.bitsPerSecond) }),
            Chart(
                label: "queue", text: Quantity.seconds(queue.milliseconds, of: queue.capacityMilliseconds),
                top: Double(queue.capacityMilliseconds), value: { Double($0.queueMilliseconds) }),
            Chart(
                label: "frames", text: "\(Quantity.fraction(Int(last.framesPerSecond * 10), 10)) frames/s\(divisor)",
                top: samples.samples.reduce(1) { max($0, $1.framesPerSecond) }, value: { $0.framesPerSecond }),
            Chart(
                label: "memory", text: "\(Quantity.fraction(memory.neededBytes, 1 << 20)) of \(Quantity.bytes(limit))",
                top: Double(limit), value: { Double($0.memoryBytes) }),
        ]
    }

    private var isGrid: Bool { columns >= Self.gridColumns }

    /// How many charts are above each other.
    var count: Int { isGrid ? (charts.count + 1) / 2 : charts.count }

    /// One of the `count` rows of charts, as `height` lines.
    func lines(_ index: Int, height: Int) -> [TopLine] {
        guard isGrid else { return lines(charts[index], columns, height, saysTime: index == 0) }
        let half = (columns - 2) / 2
        let left = lines(charts[index * 2], half, height, saysTime: index == 0)
        let right = lines(charts[index * 2 + 1], half, height, saysTime: false)
        return zip(left, right).map { left, right in
            var line = left
            line.tab(to: half + 2)
            line.add(right)
            return line
        }
    }

    private func lines(_ chart: Chart, _ columns: Int, _ height: Int, saysTime: Bool) -> [TopLine] {
        // All charts begin in the same column.
        let start = labelWidth + 2 + charts.reduce(0) { max($0, $1.text.count) }
        let cells = max(0, min(columns - start, Self.seconds))
        let rows = Sparkline.rows(
            samples.cells(cells, seconds: Self.seconds, chart.value), top: chart.top, height: height)
        return rows.enumerated().map { row, curve in
            var line = TopLine(TerminalText.padded(row == 0 ? chart.label : "", to: labelWidth), .faint)
            if row == 0 { line.add(chart.text) }
            if row == 1, saysTime { line.add("last 5 min", .faint) }
            line.tab(to: start)
            line.add(curve, .curve)
            return line
        }
    }
}
