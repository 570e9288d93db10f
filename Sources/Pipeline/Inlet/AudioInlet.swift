internal import Buffering
internal import IngestProtocol
internal import MediaCore
internal import Timeline

/// Hands PCM over to the audio thread. Bytes are received directly into the queue.
///
/// Ingest thread only.
final class AudioInlet {
    private let queue: PCMQueue
    private let times: SampleTimes
    private let counters: BroadcastCounters
    private var receiving: PCMBlock?

    init(queue: PCMQueue, times: SampleTimes, counters: BroadcastCounters) {
        (self.queue, self.times, self.counters) = (queue, times, counters)
    }

    /// Returns room for the bytes of a block; nil if the block is counted and dropped.
    func begin(
        _ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, isPaused: Bool, arrival: MediaTime
    ) -> UnsafeMutableRawBufferPointer? {
        let track: TimelineTrack = source == .app ? .audioApp : .audioMicrophone
        var block = PCMBlock(
            source: source, format: message.format, frames: message.frames, time: .zero, arrival: arrival)
        let placement = times.place(track, pts: message.pts, duration: block.duration, arrival: arrival)
        guard !isPaused else {
            counters.audioPaused.add()
            return nil
        }
        guard placement.isAccepted, let room = unsafe queue.reserve(payloadBytes) else { return nil }
        block.time = placement.time
        receiving = block
        return unsafe room
    }

    /// Queues the block, which has arrived in whole.
    func end(arrival: MediaTime) {
        guard var block = receiving else { return }
        receiving = nil
        block.arrival = arrival
        counters.audioBlocks[Int(block.source.rawValue)].add()
        counters.audioFrames[Int(block.source.rawValue)].add(UInt64(block.frames))
        queue.commit(block)
    }

    func cancel() {
        receiving = nil
        queue.abandon()
    }
}
