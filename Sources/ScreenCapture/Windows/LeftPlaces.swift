internal import MediaCore
internal import UpcastClient

/// Places that secret windows have left, each for a time. Pure.
///
/// A compositing manager that paints later than windows move may show any of them, also one that no picture had.
struct LeftPlaces: Sendable {
    private struct Left {
        var window: UInt32
        /// The smallest area with all places that the window has left in a short time.
        var place: CaptureRectangle
        var since: MediaTime
        var until: MediaTime
    }

    /// What one window leaves within this time is one place.
    static let step = MediaTime.milliseconds(25)
    /// The oldest ones are joined beyond this number.
    static let capacity = 32
    private var all: [Left] = []

    mutating func note(_ place: CaptureRectangle, of window: UInt32, now: MediaTime, for time: MediaTime) {
        if let last = all.lastIndex(where: { $0.window == window }), now - all[last].since < Self.step {
            all[last].place = all[last].place.joined(with: place)
            all[last].until = now + time
            return
        }
        all.append(Left(window: window, place: place, since: now, until: now + time))
        guard all.count > Self.capacity else { return }
        let oldest = all.removeFirst()
        all[0].place = all[0].place.joined(with: oldest.place)
        all[0].until = max(all[0].until, oldest.until)
    }

    /// Forgets those whose time is over, and hides the others. Returns when the first of them ends.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        all.removeAll { $0.until <= now }
        for left in all { secrets.hide(left.place) }
        return all.lazy.map(\.until).min()
    }
}
