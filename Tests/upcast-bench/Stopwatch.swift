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
        return Timing(try (0..<rounds).map { _ in try time(count, body) })
    }

    /// The same of several bodies, a round of each in turn: what slows the machine for a while slows them all.
    static func measure(rounds: Int, count: Int, inTurn bodies: [() throws -> Void]) throws -> [Timing] {
        var times = [[Double]](repeating: [], count: bodies.count)
        for body in bodies { try body() }
        for _ in 0..<rounds {
            for (index, body) in bodies.enumerated() { times[index].append(try time(count, body)) }
        }
        return times.map(Timing.init)
    }

    private static func time(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = nanoseconds()
        for _ in 0..<count { try body() }
        return Double(nanoseconds() - start) / Double(count)
    }
}

/// What a number of rounds took, in nanoseconds.
struct Timing {
    let median: Double
    let least: Double
    let greatest: Double
    /// Round by round.
    private let rounds: [Double]

    init(_ rounds: [Double]) {
        let sorted = rounds.sorted()
        (median, least, greatest) = (sorted[sorted.count / 2], sorted.first!, sorted.last!)
        self.rounds = rounds
    }

    /// For a line of JSON.
    func fields(divisor: Double, unit: String) -> String {
        #""\#(unit)": \#(text(median / divisor)), "least": \#(text(least / divisor)), "#
            + #""greatest": \#(text(greatest / divisor))"#
    }

    /// The median beside a rival's, and the median of the rounds' ratios, for a line of JSON.
    func fields(beside rival: Timing, divisor: Double, unit: String, name: String) -> String {
        let ratios = zip(rounds, rival.rounds).map { $0 / $1 }.sorted()
        return #""\#(name)_\#(unit)": \#(text(rival.median / divisor)), "#
            + #""\#(name)_ratio": \#(text(ratios[ratios.count / 2]))"#
    }

    private func text(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }
}
