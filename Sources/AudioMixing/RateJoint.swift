internal import MediaCore

/// The samples on both sides of a change of the sample rate as one signal, from which each side's filter gets the other
/// side's samples.
///
/// Past samples have the old rate, future samples the new one, and time zero is the first future sample. Values in
/// between come from a polynomial through the eight nearest samples of both sides. Memory: two blocks of `frames`
/// frames. Audio thread only.
struct RateJoint: ~Copyable {
    /// The maximum number of samples in use, with some margin: 1305 at 192,000 Hz for a filter at 8000 Hz.
    static let frames = 1536
    private static let nodes = 8

    private let past: FloatPlanes
    private let future: FloatPlanes
    /// The number of known past samples, at the end of the planes.
    private(set) var pastCount = 0
    private(set) var futureCount = 0
    private var pastStep = 1.0
    private var futureStep = 1.0

    init(channels: Int) {
        past = FloatPlanes(channels: channels, capacity: Self.frames)
        future = FloatPlanes(channels: channels, capacity: Self.frames)
    }

    /// Notes that the following samples do not continue the previous ones.
    mutating func forget() { pastCount = 0 }

    /// Records samples that went into the resampler.
    mutating func remember(_ samples: borrowing FloatPlanes, count: Int) {
        let kept = min(count, Self.frames)
        for channel in 0..<past.channels {
            let to = unsafe past[channel]
            if kept < Self.frames { unsafe to.update(from: to + kept, count: Self.frames - kept) }
            unsafe (to + Self.frames - kept).update(from: samples[channel] + count - kept, count: kept)
        }
        pastCount = min(Self.frames, pastCount + count)
    }

    /// Takes the first samples of the new rate.
    mutating func expect(_ samples: borrowing FloatPlanes, count: Int, from oldRate: Int, to newRate: Int) {
        futureCount = min(count, Self.frames)
        (pastStep, futureStep) = (1 / Double(oldRate), 1 / Double(newRate))
        for channel in 0..<future.channels {
            unsafe future[channel].update(from: samples[channel], count: futureCount)
        }
    }

    /// Whether the signal is known from `past` old samples before the joint to `future` new ones after it.
    func reaches(past: Int, future: Int) -> Bool {
        past + Self.nodes <= pastCount && future + Self.nodes <= futureCount
    }

    /// Writes the signal at `count` times into `target`, starting at `start`, `step` seconds apart.
    func sample(from start: Double, step: Double, count: Int, into target: borrowing FloatPlanes) {
        var weights = InlineArray<8, Double>(repeating: 0)
        for index in 0..<count {
            let time = start + Double(index) * step
            let first = firstNode(at: time)
            for node in 0..<Self.nodes {
                let own = self.time(first + node)
                var weight = 1.0
                for other in 0..<Self.nodes where other != node {
                    let there = self.time(first + other)
                    weight *= (time - there) / (own - there)
                }
                weights[node] = weight
            }
            for channel in 0..<past.channels {
                var sum = 0.0
                for node in 0..<Self.nodes { sum += weights[node] * Double(value(first + node, channel)) }
                unsafe target[channel][index] = Float(sum)
            }
        }
    }

    /// The first of the nodes around a time. Negative nodes are past samples.
    private func firstNode(at time: Double) -> Int {
        let before = Int((time / (time < 0 ? pastStep : futureStep)).rounded(.down))
        return max(-pastCount, min(futureCount - Self.nodes, before - Self.nodes / 2 + 1))
    }

    private func time(_ node: Int) -> Double { Double(node) * (node < 0 ? pastStep : futureStep) }

    private func value(_ node: Int, _ channel: Int) -> Float {
        node < 0 ? unsafe past[channel][Self.frames + node] : unsafe future[channel][node]
    }
}
