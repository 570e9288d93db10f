import Measurement
import MediaCore
import Testing

@Suite struct LatencyHistogramTests {
    @Test func nothingIsZero() {
        #expect(LatencyHistogram().summary == LatencySummary())
    }

    /// Against the sorted list, for values from a microsecond to a minute.
    @Test(arguments: [1, 17, 40, 1_000, 33_333, 900_000, 40_000_000]) func quantilesAreNear(scale: Int64) {
        var histogram = LatencyHistogram()
        let values = (1...1000).map { Int64($0) * Int64($0) * scale / 1_000_000 }.sorted()
        for value in values { histogram.note(.microseconds(value)) }
        let summary = histogram.summary
        #expect(summary.count == 1000 && summary.maximum == .microseconds(values[999]))
        #expect(summary.average == .microseconds(values.reduce(0, +) / 1000))
        for (found, exact) in [(summary.median, values[499]), (summary.percentile99, values[989])] {
            let microseconds = found.nanoseconds / 1000
            #expect(abs(Double(microseconds - exact)) <= max(1, Double(exact) * 0.07), "\(microseconds), not \(exact)")
        }
    }

    @Test func extremesHaveTheirPlace() {
        var histogram = LatencyHistogram()
        let times = [MediaTime.zero, .seconds(-1), .seconds(100_000), MediaTime(nanoseconds: .max)]
        for time in times { histogram.note(time) }
        #expect(histogram.summary.count == 4 && histogram.summary.percentile99 >= .seconds(60))
    }
}
