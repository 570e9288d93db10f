/// The last few relations between client PTS and broadcast time; a jump makes a new one, and tracks that have not
/// jumped yet still need the old.
struct EpochTable: Sendable {
    struct Epoch: Sendable {
        /// Counts up from zero; tells an epoch from the one that takes its place in the table.
        var number = -1
        /// Broadcast time is PTS minus this, in nanoseconds, wrapping.
        var base: Int64 = 0
        /// Arrival of the sample that made it.
        var made: Int64 = 0
    }

    /// Four: a client may have a clock for each of its three tracks, and one of them may jump.
    private var epochs: InlineArray<4, Epoch> = .init(repeating: Epoch())
    private(set) var newest = -1

    mutating func append(base: Int64, made: Int64) {
        newest += 1
        epochs[newest % epochs.count] = Epoch(number: newest, base: base, made: made)
    }

    /// The epoch of that number, unless it has been forgotten.
    subscript(number: Int) -> Epoch? {
        guard number >= 0 else { return nil }
        let epoch = epochs[number % epochs.count]
        return epoch.number == number ? epoch : nil
    }

    /// Numbers of all epochs that are still known, oldest first.
    var numbers: ClosedRange<Int> { max(0, newest - epochs.count + 1)...newest }

    /// Moves the samples of all epochs `nanoseconds` later, so that the tracks stay as they are to each other.
    mutating func shift(by nanoseconds: Int64) {
        for index in epochs.indices { epochs[index].base &-= nanoseconds }
    }
}
