internal import ControlProtocol
internal import MediaCore
internal import Publishing

/// The figures that decide the air state. Pure.
struct AirFigures: Equatable {
    /// A client is connected.
    var hasClient = false
    var isCurtainUp = false
    /// RTMP destinations that take media.
    var publishing = 0
    /// Of these, the ones that are late, or have shed packets within `sheddingMemory`.
    var impaired = 0
    /// File destinations that take media.
    var recording = 0

    /// How long a destination that has shed packets counts as impaired.
    static let sheddingMemory = MediaTime.seconds(5)

    mutating func note(_ snapshot: DestinationSnapshot, at now: MediaTime) {
        guard snapshot.downSince == nil else { return }
        guard snapshot.isServer else { return recording += 1 }
        publishing += 1
        let hasShed = snapshot.link.shedAt.map { now - $0 < Self.sheddingMemory } ?? false
        if hasShed || snapshot.link.congestedSince != nil { impaired += 1 }
    }

    var state: AirState {
        guard publishing > 0 else { return hasClient ? .offAir : .idle }
        guard !isCurtainUp else { return .hidden }
        return impaired > 0 ? .impaired : .onAir
    }
}
