internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places that secret windows have left, each for a time. Pure.
///
/// A compositing manager that paints later than windows move may show any of them, also one that no picture had. It has
/// painted there when the server reports so in a later picture than the first one without the window.
struct LeftPlaces: Sendable {
    private struct Left {
        var window: UInt32
        /// The smallest area with all places that the window has left in a short time.
        var place: CaptureRectangle
        var since: MediaTime
        var until: MediaTime
        /// Pictures since then.
        var pictures = 0
        var isPainted = false

        /// Nobody may have to paint there: another window covers it.
        var end: MediaTime { isPainted ? until : until + LeftPlaces.patience }
    }

    /// What one window leaves within this time is one place.
    static let step = MediaTime.milliseconds(25)
    /// So much longer is a place hidden that was not painted.
    static let patience = MediaTime.seconds(1)
    /// The oldest ones are joined beyond this number.
    static let capacity = 32
    private var all: [Left] = []

    mutating func note(_ place: CaptureRectangle, of window: UInt32, now: MediaTime, for time: MediaTime) {
        if let last = all.lastIndex(where: { $0.window == window }), now - all[last].since < Self.step {
            all[last].place = all[last].place.joined(with: place)
            (all[last].until, all[last].pictures, all[last].isPainted) = (now + time, 0, false)
            return
        }
        all.append(Left(window: window, place: place, since: now, until: now + time))
        guard all.count > Self.capacity else { return }
        let oldest = all.removeFirst()
        all[0].place = all[0].place.joined(with: oldest.place)
        all[0].until = max(all[0].until, oldest.until)
        (all[0].pictures, all[0].isPainted) = (min(all[0].pictures, oldest.pictures), false)
    }

    /// What the server reports as painted since the picture before.
    mutating func painted(_ areas: [CaptureRectangle]) {
        for index in all.indices {
            defer { all[index].pictures += 1 }
            // The first picture's areas may be of before.
            guard all[index].pictures > 0, !all[index].isPainted else { continue }
            all[index].isPainted = areas.contains { $0.contains(all[index].place) }
        }
    }

    /// Forgets those whose time is over, and hides the others. Returns when the first of them ends.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        all.removeAll { $0.end <= now }
        for left in all { secrets.hide(left.place) }
        return all.lazy.map(\.end).min()
    }
}
