/// The latest relations between client PTS and broadcast time. A jump creates a new one. Tracks that have not jumped
/// yet still need the old one.
struct EpochTable: Sendable {
    struct Epoch: Sendable {
        /// Counts from zero. It distinguishes an epoch from its successor in the same slot of the table.
        var number = -1
        /// Broadcast time is PTS minus this, in nanoseconds, wrapping.
        var base: Int64 = 0
        /// Arrival of the sample that started the epoch.
        var made: Int64 = 0
        /// The PTS step that started the epoch; nil if the broadcast clock started it.
        var step: Step?
    }

    /// A step from one PTS of a track to the next.
    struct Step: Sendable {
        /// The number of the epoch that the track left.
        var left: Int
        var from: Int64
        var to: Int64
    }

    /// Eight, because a client may have a clock for each of its three tracks. A clock that restarts each second needs a
    /// new epoch before all tracks have left the old one.
    private var epochs: InlineArray<8, Epoch> = .init(repeating: Epoch())
    private(set) var newest = -1

    mutating func append(base: Int64, made: Int64, step: Step?) {
        newest += 1
        epochs[newest % epochs.count] = Epoch(number: newest, base: base, made: made, step: step)
    }

    /// The epoch with this number, if the table still has it.
    subscript(number: Int) -> Epoch? {
        guard number >= 0 else { return nil }
        let epoch = epochs[number % epochs.count]
        return epoch.number == number ? epoch : nil
    }

    /// Numbers of all epochs in the table, oldest first.
    var numbers: ClosedRange<Int> { max(0, newest - epochs.count + 1)...newest }

    /// The epoch in which the sample is nearest to the broadcast clock; nil if it fits none.
    func bestFit(of sample: TimelineSample, within settings: TimelineSettings) -> Int? {
        var best: (number: Int, misfit: UInt64)?
        for number in numbers.reversed() {
            guard let epoch = self[number] else { continue }
            let deviation = sample.deviation(in: epoch)
            guard settings.accepts(deviation), deviation.magnitude < best?.misfit ?? .max else { continue }
            best = (number, deviation.magnitude)
        }
        return best?.number
    }

    /// Moves the samples of all epochs `nanoseconds` later. The relation of the tracks stays the same.
    mutating func shift(by nanoseconds: Int64) {
        for index in epochs.indices { epochs[index].base &-= nanoseconds }
    }
}
