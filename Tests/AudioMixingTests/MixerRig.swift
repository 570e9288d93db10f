import AudioMixing
import MediaCore
import Testing

/// A mixer, a clock turned by hand, and everything that the mixer has put out.
final class MixerRig {
    let mixer: AudioMixer
    let rate: Int
    private(set) var now = MediaTime.zero
    /// One array a channel; sample i is that of broadcast frame i.
    private(set) var output: [[Float]]
    /// A block that did not begin where the last one ended.
    private(set) var discontinuities = 0

    init(_ settings: AudioMixerSettings = .init()) throws {
        mixer = try AudioMixer(settings: settings)
        rate = settings.sampleRate
        output = Array(repeating: [], count: settings.channels)
    }

    /// Moves the broadcast clock on, and takes what is due.
    func advance(to time: MediaTime) {
        now = max(now, time)
        while let block = mixer.render(broadcastNow: now) { take(block) }
    }

    /// Takes everything up to `end` without waiting.
    func finish(_ end: MediaTime? = nil) {
        let end = end ?? mixer.contentEnd
        while let block = mixer.flush(until: end) { take(block) }
    }

    private func take(_ block: MixedBlock) {
        if block.time != MediaTime(sample: Int64(output[0].count), rate: rate) { discontinuities += 1 }
        for channel in output.indices {
            output[channel].append(contentsOf: UnsafeBufferPointer(start: block.channel(channel), count: block.frames))
        }
    }

    func submit(_ format: AudioFormat, _ bytes: [UInt8], at time: MediaTime, of source: AudioSource = .app) throws {
        try bytes.withUnsafeBytes { payload in
            try mixer.submit(source, format: format, payload: payload, time: time, broadcastNow: now)
        }
    }

    /// Submits a mono or equal-on-all-channels signal in blocks that each arrive `delay` after they have ended.
    func play(
        _ format: AudioFormat, _ samples: [Float], from start: MediaTime = .zero, block: Int = 1024,
        delay: MediaTime = .milliseconds(10), of source: AudioSource = .app
    ) throws {
        var done = 0
        while done < samples.count {
            let count = min(block, samples.count - done)
            let bytes = PCMEncoder.bytes(Array(samples[done..<done + count]), format)
            advance(to: start + MediaTime(sample: Int64(done + count), rate: format.sampleRate) + delay)
            try submit(
                format, bytes, at: start + MediaTime(sample: Int64(done), rate: format.sampleRate), of: source)
            done += count
        }
    }

    /// The largest difference between neighbouring samples of channel 0.
    func largestStep(_ range: Range<Int>? = nil) -> Float {
        let range = range ?? 0..<output[0].count
        return zip(output[0][range].dropFirst(), output[0][range]).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }
}
