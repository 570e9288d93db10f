internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places that secret windows have left on a screen with a compositing manager, each for a time. Pure.
///
/// A compositing manager paints later than windows move, so it may show any of them, also one that no picture had. It
/// has painted a place when the server reports so in later pictures than the first one without the window.
struct LeftPlaces: Sendable {
    private struct Left {
        var window: UInt32
        /// The smallest area with all places that the window has left in a short time.
        var place: CaptureRectangle
        var since: MediaTime
        var until: MediaTime
        var pictures = 0
        /// Those of them in which something on the screen was painted.
        var paintings = 0
        var unpainted: [CaptureRectangle]
        /// How often the manager was asked to paint it, and when last.
        var requests = 0
        var askedAt = MediaTime.zero

        /// When it is not hidden any more; nil while nobody knows.
        var end: MediaTime? {
            if unpainted.isEmpty { return until }
            return paintings < LeftPlaces.enoughPaintings ? nil : until + LeftPlaces.patience
        }

        /// When the manager is asked to paint it; nil if that does not help, or would count for the first picture.
        var nextRequest: MediaTime? {
            guard pictures > 0, !unpainted.isEmpty, requests < LeftPlaces.maxRequests else { return nil }
            return max(until, askedAt + LeftPlaces.requestPause)
        }

        mutating func restart() { (pictures, paintings, requests, unpainted) = (0, 0, 0, [place]) }

        mutating func paint(_ areas: [CaptureRectangle]) {
            defer { pictures += 1 }
            // The first picture's areas may be of before.
            guard pictures > 0, !areas.isEmpty, !unpainted.isEmpty else { return }
            paintings += 1
            for area in areas { unpainted = unpainted.flatMap { $0.without(area) } }
            unpainted = CaptureRectangle.joined(unpainted)
        }
    }

    /// What one window leaves within this time is one place.
    static let step = MediaTime.milliseconds(25)
    /// A compositing manager does not paint what another window covers. So a place that is not painted is shown after
    /// this time, but only if the manager has painted elsewhere so often: one that hangs still shows old windows.
    static let patience = MediaTime.seconds(10)
    static let enoughPaintings = 100
    /// A manager that has painted a place before the first picture without the window is asked to paint it again.
    static let maxRequests = 10
    static let requestPause = MediaTime.seconds(1)
    /// The oldest ones are joined beyond this number.
    static let capacity = 32
    private var all: [Left] = []

    mutating func note(_ place: CaptureRectangle, of window: UInt32, now: MediaTime, for time: MediaTime) {
        if let last = all.lastIndex(where: { $0.window == window }), now - all[last].since < Self.step {
            all[last].place = all[last].place.joined(with: place)
            all[last].until = max(all[last].until, now + time)
            return all[last].restart()
        }
        all.append(Left(window: window, place: place, since: now, until: now + time, unpainted: [place]))
        guard all.count > Self.capacity else { return }
        let oldest = all.removeFirst()
        all[0].place = all[0].place.joined(with: oldest.place)
        (all[0].until, all[0].askedAt) = (max(all[0].until, oldest.until), max(all[0].askedAt, oldest.askedAt))
        all[0].restart()
    }

    /// What the server reports as painted since the picture before.
    mutating func painted(_ areas: [CaptureRectangle]) {
        for index in all.indices { all[index].paint(areas) }
    }

    /// The screen has another size. Nobody paints beyond its edges.
    mutating func resize(to bounds: CaptureRectangle) {
        all = all.compactMap { left in
            var left = left
            guard let place = left.place.intersection(bounds) else { return nil }
            (left.place, left.unpainted) = (place, left.unpainted.compactMap { $0.intersection(bounds) })
            return left
        }
    }

    /// The smallest area with all places that the compositing manager is to paint now; nil for none.
    mutating func takeRequest(now: MediaTime) -> CaptureRectangle? {
        var area: CaptureRectangle?
        for index in all.indices {
            guard let due = all[index].nextRequest, due <= now else { continue }
            (all[index].requests, all[index].askedAt) = (all[index].requests + 1, now)
            for part in all[index].unpainted { area = area?.joined(with: part) ?? part }
        }
        return area
    }

    /// Forgets those whose time is over, and hides the others. Returns when the first of them ends, or is to be
    /// painted.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        all.removeAll { $0.end.map { $0 <= now } ?? false }
        var next: MediaTime?
        for left in all {
            secrets.hide(left.place)
            next = MediaTime.sooner(next, MediaTime.sooner(left.end, left.nextRequest))
        }
        return next
    }
}
