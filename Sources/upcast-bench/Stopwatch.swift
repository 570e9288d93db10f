internal import Glibc

/// Processor time of the calling thread: what others do meanwhile does not count.
enum Stopwatch {
    static func nanoseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Nanoseconds of one call of `body`: the median of `rounds` rounds of `count` calls each, after one that does not
    /// count, and the least and the greatest round.
    static func measure(rounds: Int, count: Int, _ body: () throws -> Void) rethrows -> Timing {
        try body()
        let times = try (0..<rounds).map { _ in
            let start = nanoseconds()
            for _ in 0..<count { try body() }
            return Double(nanoseconds() - start) / Double(count)
        }.sorted()
        return Timing(median: times[times.count / 2], least: times.first!, greatest: times.last!)
    }
}

struct Timing {
    let median: Double
    let least: Double
    let greatest: Double

    /// For a line of JSON.
    func fields(divisor: Double, unit: String) -> String {
        func text(_ value: Double) -> String {
            let rounded = (value / divisor * 10_000).rounded() / 10_000
            return "\(rounded)"
        }
        return #""\#(unit)": \#(text(median)), "least": \#(text(least)), "greatest": \#(text(greatest))"#
    }
}
