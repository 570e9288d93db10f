/// The latest eras: in each, client PTS and broadcast time differ by a constant. A jump of the client's clock begins a
/// new one. Tracks that have not jumped yet still need the old one.
struct ClockEras: Sendable {
    struct Era: Sendable {
        /// Counts from zero. It distinguishes an era from its successor in the same slot of the table.
        var number = -1
        /// Broadcast time is PTS minus this, in nanoseconds, wrapping.
        var base: Int64 = 0
        /// Arrival of the sample that started the era.
        var made: Int64 = 0
        /// The PTS step that started the era; nil if the broadcast clock started it.
        var step: Step?
    }

    /// A step from one PTS of a track to the next.
    struct Step: Sendable {
        /// The number of the era that the track left.
        var left: Int
        var from: Int64
        var to: Int64
    }

    /// Eight, because a client may have a clock for each of its three tracks. A clock that restarts each second needs a
    /// new era before all tracks have left the old one.
    private var eras: InlineArray<8, Era> = .init(repeating: Era())
    private(set) var newest = -1

    mutating func append(base: Int64, made: Int64, step: Step?) {
        newest += 1
        eras[newest % eras.count] = Era(number: newest, base: base, made: made, step: step)
    }

    /// The era with this number, if the table still has it.
    subscript(number: Int) -> Era? {
        guard number >= 0 else { return nil }
        let era = eras[number % eras.count]
        return era.number == number ? era : nil
    }

    /// Numbers of all eras in the table, oldest first.
    var numbers: ClosedRange<Int> { max(0, newest - eras.count + 1)...newest }

    /// The era in which the sample is nearest to the broadcast clock; nil if it fits none.
    func bestFit(of sample: TimelineSample, within settings: TimelineSettings) -> Int? {
        var best: (number: Int, misfit: UInt64)?
        for number in numbers.reversed() {
            guard let era = self[number] else { continue }
            let deviation = sample.deviation(in: era)
            guard settings.accepts(deviation), deviation.magnitude < best?.misfit ?? .max else { continue }
            best = (number, deviation.magnitude)
        }
        return best?.number
    }

    /// Moves the samples of all eras `nanoseconds` later. The relation of the tracks stays the same.
    mutating func shift(by nanoseconds: Int64) {
        for index in eras.indices { eras[index].base &-= nanoseconds }
    }
}
