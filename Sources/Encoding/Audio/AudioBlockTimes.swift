internal import MediaCore

/// Maps an encoder's sample count back to the broadcast's timeline. Fixed size; allocates nothing after `init`.
struct AudioBlockTimes {
    private struct Block {
        var firstSample: Int64
        var time: MediaTime
        var epoch: CurtainEpoch
    }

    /// More blocks than an AAC encoder holds.
    private static let capacity = 16
    private let sampleRate: Int
    private var blocks: [Block] = []
    private var next = 0

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
        blocks.reserveCapacity(Self.capacity)
    }

    /// Notes that `firstSample` is heard at `time`. Replaces the oldest block.
    mutating func insert(firstSample: Int64, time: MediaTime, epoch: CurtainEpoch) {
        let block = Block(firstSample: firstSample, time: time, epoch: epoch)
        if blocks.count < Self.capacity { blocks.append(block) } else { blocks[next] = block }
        next = (next + 1) % Self.capacity
    }

    /// Accounts for a block of `length` samples at `time` that is not encoded, after those from `sample` to `end`. Each
    /// stored block takes time and epoch of the block after it, and the last one takes `time` and `epoch`. Returns
    /// false, and changes nothing, if one of them is not stored.
    mutating func moveUp(
        from sample: Int64, to end: Int64, length: Int, adding time: MediaTime, epoch: CurtainEpoch
    ) -> Bool {
        func index(_ first: Int64) -> Int? { blocks.firstIndex { $0.firstSample == first } }
        for first in stride(from: sample, to: end, by: length) where index(first) == nil { return false }
        guard sample < end else { return false }
        for first in stride(from: sample, to: end, by: length) {
            guard let place = index(first) else { return false }
            if let next = index(first + Int64(length)), first + Int64(length) < end {
                (blocks[place].time, blocks[place].epoch) = (blocks[next].time, blocks[next].epoch)
            } else {
                (blocks[place].time, blocks[place].epoch) = (time, epoch)
            }
        }
        return true
    }

    /// When `sample` is heard, and its block's epoch; nil before the first stored block.
    func time(of sample: Int64) -> (time: MediaTime, epoch: CurtainEpoch)? {
        var best: Block?
        for block in blocks where block.firstSample <= sample && block.firstSample >= best?.firstSample ?? .min {
            best = block
        }
        return best.map { ($0.time + MediaTime(sample: sample - $0.firstSample, rate: sampleRate), $0.epoch) }
    }
}
