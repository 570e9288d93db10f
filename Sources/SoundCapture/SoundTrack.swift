package import MediaCore

/// One track of a broadcast: what is recorded for a wish, while devices and programs come and go. One thread.
package final class SoundTrack {
    package enum Notice: Equatable, Sendable {
        /// The names of the sources.
        case recording([String])
        case missing(String)
    }

    package let wish: SoundWish
    package let channels: Int
    private let connection: PulseConnection
    private var streams: [PulseStream] = []
    /// Where each stream stands in the mix.
    private var places: [SoundMix.Place] = []
    private var mix: SoundMix?
    private var lastNotice: Notice?
    private var retry: MediaTime?
    /// How long to wait before a stream that the server has refused or ended is requested again.
    private static let retryPause = MediaTime.milliseconds(500)

    /// - Parameter channels: 1 or 2; programs are mixed in stereo.
    package init(_ wish: SoundWish, channels: Int, _ connection: PulseConnection) {
        (self.wish, self.channels, self.connection) = (wish, channels, connection)
        if case .application = wish { mix = SoundMix() }
    }

    /// Whether what is sent from now on has the right times; true if nothing is recorded.
    package var isSettled: Bool { streams.allSatisfy(\.isSettled) }

    /// Whether `follow` should be called again although nothing has changed at the server.
    package func mustFollow(now: MediaTime) -> Bool {
        if streams.contains(where: \.isCutOff) { return true }
        if streams.contains(where: \.hasEnded), retry == nil { retry = now + Self.retryPause }
        return retry.map { $0 <= now } ?? false
    }

    /// Begins and ends streams, so that exactly what matches the wish is recorded.
    package func follow(_ facts: SoundFacts, now: MediaTime, _ notice: (Notice) -> Void) {
        retry = nil
        var targets: [SoundTarget] = []
        var news: Notice
        switch facts.answer(wish) {
        case .record(let wanted):
            targets = wanted
            news = .recording(wanted.map(\.source))
        case .missing(let text): news = .missing(text)
        }
        for index in streams.indices.reversed() {
            let target = streams[index].target
            let hasEnded = streams[index].hasEnded
            guard hasEnded || streams[index].isCutOff || !targets.contains(target) else {
                streams[index].sinkDelay = facts.uncountedDelay(of: target)
                continue
            }
            // A request that the server refuses also ends its stream.
            if hasEnded, targets.contains(target) {
                news = .missing("the sound server has ended the recording of \(target.source); asking again")
                retry = now + Self.retryPause
            }
            streams.remove(at: index)
            places.remove(at: index)
        }
        for target in targets where !streams.contains(where: { $0.target == target }) {
            guard
                let stream = PulseStream(
                    target, channels: channels, latency: facts.wantedLatency(of: target),
                    sinkDelay: facts.uncountedDelay(of: target), comesInPieces: facts.comesInPieces(target),
                    mayBeCutOff: facts.mayCutOff(target), connection)
            else {
                retry = now + Self.retryPause
                news = .missing("the sound server refuses to record \(target.source)")
                continue
            }
            streams.append(stream)
            places.append(SoundMix.Place())
        }
        if news != lastNotice { notice(news) }
        lastNotice = news
    }

    /// Gives out the samples that have come, in order. Returns when it wants to be called again; nil until something
    /// happens.
    package func read(
        now: MediaTime, _ body: (RawSpan, MediaTime) throws -> Void
    ) rethrows -> MediaTime? {
        var next = retry
        for index in streams.indices {
            let wish = try streams[index].read(now: now) { bytes, time in
                if mix == nil { return try body(bytes, time) }
                mix!.add(bytes, at: time, &places[index])
            }
            next = min(next ?? wish, wish)
        }
        try mix?.take(now: now, places) { samples, time in
            try body(samples, time)
        }
        if let due = mix?.due { next = min(next ?? due, due) }
        return next
    }
}

extension SoundFacts {
    /// The latency that a stream of the source asks for.
    ///
    /// PulseAudio mixes a sink's sound before it is heard, and the monitor gets most of it at that moment. The less
    /// latency a stream asks for, the later PulseAudio mixes. While nothing played, broadcasts were less late with
    /// 80 ms than with 20 or 40 ms. A microphone's samples come later with more latency.
    package func wantedLatency(of target: SoundTarget) -> MediaTime {
        source(of: target)?.monitorOf != nil && !isPipeWire ? .milliseconds(80) : .milliseconds(40)
    }

    /// Whether the sound of the source may come in pieces. PulseAudio reports the delay of its monitors.
    func comesInPieces(_ target: SoundTarget) -> Bool { isPipeWire || source(of: target)?.monitorOf == nil }

    /// Whether the server may cut off a stream of the source: PipeWire those of a sink.
    func mayCutOff(_ target: SoundTarget) -> Bool { isPipeWire && source(of: target)?.monitorOf != nil }

    /// The part of the delay until samples are heard that the server does not report: with PipeWire, the sink's
    /// latency.
    func uncountedDelay(of target: SoundTarget) -> MediaTime {
        guard isPipeWire, let source = source(of: target),
            let sink = sinks.first(where: { $0.index == source.monitorOf })
        else { return .zero }
        return Self.delay(microseconds: sink.latency)
    }

    /// A delay that a server reports. Sound is never late by more than a minute: more is an error of the server.
    static func delay(microseconds: UInt64) -> MediaTime { .microseconds(Int64(min(microseconds, 60_000_000))) }

    private func source(of target: SoundTarget) -> Device? { sources.first { $0.index == target.index } }
}
