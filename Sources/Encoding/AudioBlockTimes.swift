internal import MediaCore

/// Maps an encoder's sample count back to the broadcast's timeline; of fixed size, it never allocates after `init`.
struct AudioBlockTimes {
    private struct Block {
        var firstSample: Int64
        var time: MediaTime
        var epoch: UInt32
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

    /// Remembers that `firstSample` is heard at `time`, in place of the oldest block.
    mutating func insert(firstSample: Int64, time: MediaTime, epoch: UInt32) {
        let block = Block(firstSample: firstSample, time: time, epoch: epoch)
        if blocks.count < Self.capacity { blocks.append(block) } else { blocks[next] = block }
        next = (next + 1) % Self.capacity
    }

    /// When `sample` is heard, and its block's epoch; nil before the first block that is remembered.
    func time(of sample: Int64) -> (time: MediaTime, epoch: UInt32)? {
        var best: Block?
        for block in blocks where block.firstSample <= sample && block.firstSample >= best?.firstSample ?? .min {
            best = block
        }
        return best.map { ($0.time + MediaTime(sample: sample - $0.firstSample, rate: sampleRate), $0.epoch) }
    }
}
