internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places that secret windows have left on a screen with a compositing manager. Each is hidden for some time. Pure.
///
/// A compositing manager paints some time after windows move. So it may still show any of these places, even one that
/// no picture had. A place counts as painted when the server reports so in a later picture than the first one without
/// the window.
struct LeftPlaces: Sendable {
    private struct Left: LingeringPlace {
        /// Nil for several.
        var window: UInt32?
        /// The bounding box of all places that the window has left within `step`.
        var place: CaptureRectangle
        var since: MediaTime
        /// Windows that have left the screen disappear slowly.
        var isFading: Bool
        var effect: EffectEnd
        var pictures = 0
        /// How many of these pictures, except the first, had something painted on the screen.
        var paintings = 0
        var unpainted: [CaptureRectangle]
        /// How often, and when last, the manager was asked to paint the place.
        var requests = 0
        var askedAt = MediaTime.zero

        var end: MediaTime? {
            if unpainted.isEmpty { return isFading ? effect.end : effect.until }
            return paintings < LeftPlaces.enoughPaintings ? nil : effect.until + LeftPlaces.patience
        }

        /// Nil if a request does not help, or before the first picture, in which no painting counts.
        var nextRequest: MediaTime? {
            guard pictures > 0, !unpainted.isEmpty, requests < LeftPlaces.maxRequests else { return nil }
            return max(effect.until, askedAt + LeftPlaces.requestPause)
        }

        mutating func noteAsked(now: MediaTime) { (requests, askedAt) = (requests + 1, now) }

        /// Also covers another one, and has to be painted anew.
        mutating func join(_ other: Left) {
            (place, isFading) = (place.joined(with: other.place), isFading || other.isFading)
            effect.join(other.effect)
            askedAt = max(askedAt, other.askedAt)
            (pictures, paintings, requests, unpainted) = (0, 0, 0, [place])
        }

        mutating func paint(_ painted: PaintedAreas, now: MediaTime) {
            defer { pictures += 1 }
            // Areas of the first picture may have been painted before the window left.
            guard pictures > 0, !painted.areas.isEmpty else { return }
            if painted.mayTouch(place) { effect.painted(now: now) }
            guard !unpainted.isEmpty else { return }
            paintings += 1
            unpainted = painted.missing(of: unpainted)
        }
    }

    /// All that one window leaves within this time is one place.
    static let step = MediaTime.milliseconds(25)
    /// A compositing manager does not paint what another window covers. So an unpainted place is shown after this time,
    /// but only if the manager has painted elsewhere in `enoughPaintings` pictures: a manager that hangs still shows
    /// old windows.
    static let patience = MediaTime.seconds(10)
    static let enoughPaintings = 100
    /// A manager that has painted a place before the first picture without the window is asked to paint it again, this
    /// often at most.
    static let maxRequests = 10
    static let requestPause = MediaTime.seconds(1)
    /// Beyond this number, the two oldest places are joined.
    static let capacity = 32
    private var all: [Left] = []
    var isEmpty: Bool { all.isEmpty }

    /// - Parameter isGone: whether the window has left the screen.
    mutating func note(
        _ place: CaptureRectangle, of window: UInt32?, isGone: Bool, now: MediaTime, for time: MediaTime
    ) {
        let new = Left(
            window: window, place: place, since: now, isFading: isGone, effect: EffectEnd(time, from: now),
            unpainted: [place])
        if let last = all.lastIndex(where: { $0.window == window }), now - all[last].since < Self.step {
            return all[last].join(new)
        }
        all.append(new)
        guard all.count > Self.capacity else { return }
        let oldest = all.removeFirst()
        all[0].join(oldest)
    }

    mutating func painted(_ painted: PaintedAreas, now: MediaTime) { all.paint(painted, now: now) }

    mutating func resize(to bounds: CaptureRectangle) { all.resize(to: bounds) }

    mutating func takeRequest(now: MediaTime) -> CaptureRectangle? { all.takeRequest(now: now) }

    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        all.hide(in: &secrets, now: now)
    }
}
