/// One source's samples between placement and rendering, addressed by broadcast frame number.
///
/// A frame's slot is its number modulo the capacity. The user of the ring must stay within a window of that many
/// frames. Unwritten slots are silent, because taking samples leaves zeros.
struct SampleRing: ~Copyable {
    private let planes: FloatPlanes
    var capacity: Int { planes.capacity }

    init(channels: Int, capacity: Int) {
        planes = FloatPlanes(channels: channels, capacity: capacity)
    }

    /// Calls `body` with the one or two ranges of slots that hold `count` frames, starting with frame `start`.
    private func stretches(from start: Int64, count: Int, _ body: (_ slot: Int, _ offset: Int, _ count: Int) -> Void) {
        precondition(start >= 0 && count >= 0 && count <= capacity)
        let slot = Int(start % Int64(capacity))
        let first = min(count, capacity - slot)
        if first > 0 { body(slot, 0, first) }
        if count > first { body(0, first, count - first) }
    }

    /// Stores `count` frames of `source`, starting at its frame `offset`, at frame number `start`.
    func store(_ source: borrowing FloatPlanes, offset: Int, count: Int, at start: Int64) {
        precondition(offset >= 0 && offset + count <= source.capacity && source.channels == planes.channels)
        for channel in 0..<planes.channels {
            let from = unsafe source[channel] + offset
            let to = unsafe planes[channel]
            stretches(from: start, count: count) { slot, done, count in
                unsafe (to + slot).update(from: from + done, count: count)
            }
        }
    }

    /// Adds `count` frames from frame number `start`, times `gain`, to `target`, and leaves silence in the ring.
    /// Returns the level of what was added.
    func take(
        from start: Int64, count: Int, gain: GainRamp, into target: borrowing FloatPlanes, offset: Int
    ) -> SoundLevel.Block {
        precondition(offset >= 0 && offset + count <= target.capacity && target.channels == planes.channels)
        var level = SoundLevel.Block()
        let step = gain.step(count: count)
        for channel in 0..<planes.channels {
            let from = unsafe planes[channel]
            let to = unsafe target[channel] + offset
            stretches(from: start, count: count) { slot, done, count in
                let (from, to) = unsafe (from + slot, to + done)
                for index in 0..<count {
                    // Exactly `to` if the gain stays the same.
                    let sample = unsafe from[index] * (gain.from + step * Float(done + index + 1))
                    unsafe to[index] += sample
                    level.peak = max(level.peak, abs(sample))
                    level.sumOfSquares += sample * sample
                }
                unsafe from.update(repeating: 0, count: count)
            }
        }
        return level
    }
}
