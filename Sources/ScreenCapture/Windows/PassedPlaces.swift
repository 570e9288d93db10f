internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places across which a compositing manager may show secret windows, each until a time. Pure.
struct PassedPlaces: Sendable {
    /// Beyond this number, all places become one. Programs add places, even while no pictures are made.
    static let capacity = 32
    private(set) var all: [(place: CaptureRectangle, until: MediaTime)] = []

    mutating func note(_ place: CaptureRectangle, until: MediaTime, now: MediaTime) {
        forget(until: now)
        if let index = all.firstIndex(where: { $0.place == place }) {
            return all[index].until = max(all[index].until, until)
        }
        all.append((place, until))
        guard all.count > Self.capacity else { return }
        let joined = all.reduce(place) { $0.joined(with: $1.place) }
        all = [(joined, all.reduce(until) { max($0, $1.until) })]
    }

    /// Hides the places whose time is not over. Returns when the first of them ends.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        forget(until: now)
        for (place, _) in all { secrets.hide(place) }
        return all.map(\.until).min()
    }

    private mutating func forget(until now: MediaTime) { all.removeAll { $0.until <= now } }
}
