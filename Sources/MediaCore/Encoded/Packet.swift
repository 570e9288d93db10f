/// The track that a packet belongs to.
package enum Track: UInt8, CaseIterable, Sendable {
    case video = 0
    case audio = 1
}

/// The order in which packets are dropped: lower values first.
package enum PacketPriority: UInt8, Comparable, Sendable {
    /// A frame that no other frame refers to.
    case disposable = 0
    /// A frame that later frames refer to. Dropping it means dropping all frames up to the next keyframe.
    case reference = 1
    case keyframe = 2
    case audio = 3

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The properties of an encoded packet, without its bytes.
package struct PacketInfo: Equatable, Sendable {
    package var track: Track
    /// Presentation time on the broadcast's timeline, which starts near zero.
    package var pts: MediaTime
    /// Decode time; strictly increasing within a track.
    package var dts: MediaTime
    package var priority: PacketPriority
    /// Monotonic clock when the sample's last byte had been read, for latency; zero for generated samples (silence).
    package var arrival: MediaTime
    /// The curtain's epoch when the sample was taken. A take-back removes packets of earlier epochs.
    package var epoch: CurtainEpoch
    /// The time from this packet's decode time to the newest picture in the encoder: the delay by lookahead and
    /// B-frames.
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

/// Receives the encoders' packets. The payload is valid only during the call.
///
/// Video payloads are access units of the track's codec as length-prefixed NAL units (four-byte big-endian lengths,
/// without parameter sets and access unit delimiters). Audio payloads are raw AAC frames without ADTS.
package protocol PacketSink: AnyObject, Sendable {
    func write(_ info: PacketInfo, payload: RawSpan)
}
