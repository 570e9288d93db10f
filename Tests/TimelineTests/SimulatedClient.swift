import SeededRandom
import MediaCore
import Timeline

/// A client's tracks with a clock of their own, against a daemon's clock that a test turns.
struct SimulatedClient {
    struct Placed {
        var track: TimelineTrack
        /// When the sample was taken, on the client's clock, in seconds.
        var captured: Double
        var arrival: MediaTime
        var placement: Placement
        var clock: MediaTime
    }

    /// Client seconds for each of the daemon's, less one.
    var drift = 0.0
    var largestJitter = 0.050
    var latency = 0.010
    /// PTS less capture time as a function of capture time; nil: nothing is sent.
    var offset: (Double) -> Double? = { _ in 1000 }
    /// Length of a block of audio, and what it is delivered in: at the ends of equal spans; nil: when it has ended.
    var block = 1024.0 / 44_100
    var burst: Double?
    /// Nothing is delivered while the client's clock is in here. What was taken in it comes late.
    var stall: Range<Double>?
    /// What was taken in this many seconds from the stall's beginning is kept; the rest of the stall is lost.
    var keptFrames = Double.infinity
    var keptAudio = Double.infinity
    /// After the stall, this many seconds of samples are delivered in a second; nil: all at once.
    var backlogSpeed: Double?
    var hasVideo = true
    var hasAudio = true
    var random = SplitMix64(seed: 7)

    private struct Source {
        let track: TimelineTrack
        let period: Double
        let phase: Double
        var index = -1
        var arrival = 0.0
        var captured: Double { phase + Double(index) * period }
        var duration: Double { track == .video ? 0 : period }
    }

    /// Runs until the client's clock reads `end` seconds, and hands out every placement in order of arrival.
    mutating func run(_ timeline: inout BroadcastTimeline, until end: Double, _ body: (Placed) -> Void) {
        var sources: [Source] = []
        if hasVideo { sources.append(Source(track: .video, period: 1.0 / 30, phase: 0)) }
        if hasAudio {
            sources.append(Source(track: .audioApp, period: block, phase: 0.004))
            sources.append(Source(track: .audioMicrophone, period: block, phase: 0.015))
        }
        for index in sources.indices { advance(&sources[index]) }
        while let next = sources.indices.min(by: { sources[$0].arrival < sources[$1].arrival }) {
            let source = sources[next]
            guard source.captured < end else { return }
            let pts = source.captured + (offset(source.captured) ?? 0)
            let arrival = MediaTime(nanoseconds: Int64((source.arrival + 77_777) * 1e9))
            let placement = timeline.place(
                source.track, pts: MediaTime(nanoseconds: Int64((pts * 1e9).rounded())),
                duration: MediaTime(nanoseconds: Int64(source.duration * 1e9)), arrival: arrival)
            body(
                Placed(
                    track: source.track, captured: source.captured, arrival: arrival, placement: placement,
                    clock: arrival - timeline.clockOffset))
            advance(&sources[next])
        }
    }

    private func isLost(_ source: Source) -> Bool {
        guard let stall, stall.contains(source.captured) else { return false }
        return source.captured >= stall.lowerBound + (source.track == .video ? keptFrames : keptAudio)
    }

    private mutating func advance(_ source: inout Source) {
        repeat { source.index += 1 } while offset(source.captured) == nil || isLost(source)
        var ready = source.captured + source.duration
        if source.track != .video, let burst { ready = (ready / burst).rounded(.up) * burst }
        if let stall, ready >= stall.lowerBound {
            let backlog = backlogSpeed.map { (ready - stall.lowerBound) / $0 } ?? 0
            ready = max(ready, stall.upperBound + backlog)
        }
        let sent = ready / (1 + drift) + latency
        source.arrival = max(source.arrival, sent + Double.random(in: 0...largestJitter, using: &random))
    }
}
