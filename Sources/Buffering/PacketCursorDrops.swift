package import MediaCore

/// Why a packet was not sent to a destination. The raw value is the name in JSON and metrics.
package enum DropCause: String, CaseIterable, Sendable {
    /// A frame that no other frame references, while the cursor was behind its soft limit.
    case disposable
    /// Video, while the cursor was behind its hard limit.
    case late
    /// Video between a dropped reference frame and the next keyframe, which cannot be decoded.
    case undecodable
    /// The log removed the packet before the cursor read it.
    case evicted
    /// Larger than the log, or than the reader's buffer.
    case tooLarge = "too_large"
    /// The decode time did not increase.
    case outOfOrder = "out_of_order"
    /// There was no connection.
    case disconnected
    /// The curtain was raised before the packet was sent.
    case takenBack = "taken_back"
}

/// Packets of one track that were dropped, by cause.
package struct TrackDrops: Equatable, Sendable {
    package var disposable = 0
    package var late = 0
    package var undecodable = 0
    package var evicted = 0
    package var tooLarge = 0
    package var outOfOrder = 0
    package var disconnected = 0
    package var takenBack = 0

    package init() {}

    package subscript(cause: DropCause) -> Int {
        get {
            switch cause {
            case .disposable: disposable
            case .late: late
            case .undecodable: undecodable
            case .evicted: evicted
            case .tooLarge: tooLarge
            case .outOfOrder: outOfOrder
            case .disconnected: disconnected
            case .takenBack: takenBack
            }
        }
        set {
            switch cause {
            case .disposable: disposable = newValue
            case .late: late = newValue
            case .undecodable: undecodable = newValue
            case .evicted: evicted = newValue
            case .tooLarge: tooLarge = newValue
            case .outOfOrder: outOfOrder = newValue
            case .disconnected: disconnected = newValue
            case .takenBack: takenBack = newValue
            }
        }
    }

    package var total: Int {
        disposable + late + undecodable + evicted + tooLarge + outOfOrder + disconnected + takenBack
    }
}

/// The drops of one cursor. Packets before its first keyframe do not count, except a keyframe that was too large.
package struct DropCounters: Equatable, Sendable {
    package var video = TrackDrops()
    package var audio = TrackDrops()

    package init() {}

    package subscript(track: Track) -> TrackDrops {
        get { track == .video ? video : audio }
        set { if track == .video { video = newValue } else { audio = newValue } }
    }

    package var total: Int { video.total + audio.total }
}
