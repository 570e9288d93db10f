/// Which track of the broadcast a packet belongs to.
package enum Track: UInt8, CaseIterable, Sendable {
    case video = 0
    case audio = 1
}

/// What happens to a packet when there is too much: a higher value goes later.
package enum PacketPriority: UInt8, Comparable, Sendable {
    /// A frame that no other refers to.
    case disposable = 0
    /// A frame that later frames refer to; dropping it means dropping up to the next keyframe.
    case reference = 1
    /// A keyframe.
    case keyframe = 2
    /// Audio.
    case audio = 3

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Everything about an encoded packet but its bytes.
package struct PacketInfo: Equatable, Sendable {
    package var track: Track
    /// Presentation time on the broadcast's timeline, which starts near zero.
    package var pts: MediaTime
    /// Decode time; strictly rising within a track.
    package var dts: MediaTime
    package var priority: PacketPriority
    /// Monotonic clock when the sample's last byte had been read, for latency; zero where it was made up (silence).
    package var arrival: MediaTime
    /// How often the curtain had been raised when the sample was taken: packets of before are taken back by number.
    package var epoch: CurtainEpoch
    /// How far the newest picture that the encoder had been given was ahead of this one's decode time: what lookahead
    /// and B-frames cost.
    package var encoderDelay: MediaTime

    package var isKeyframe: Bool { priority == .keyframe }

    package init(
        track: Track, pts: MediaTime, dts: MediaTime, priority: PacketPriority, arrival: MediaTime = .zero,
        epoch: CurtainEpoch = .first, encoderDelay: MediaTime = .zero
    ) {
        self.track = track
        self.pts = pts
        self.dts = dts
        self.priority = priority
        self.arrival = arrival
        self.epoch = epoch
        self.encoderDelay = encoderDelay
    }
}

/// Where encoders put their packets. The payload is valid during the call only.
///
/// Video payloads are access units of the track's codec as length-prefixed NAL units (four-byte big-endian lengths, no
/// parameter sets, no access unit delimiters); audio payloads are raw AAC frames without ADTS.
package protocol PacketSink: AnyObject, Sendable {
    func write(_ info: PacketInfo, payload: RawSpan)
}
