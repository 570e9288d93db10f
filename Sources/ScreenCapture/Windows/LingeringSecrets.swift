package import MediaCore
package import UpcastClient

/// Keeps places hidden for a while after they were secret. A compositing manager shows a window where it was some
/// frames ago, and fades it out after it is gone. Pure.
package struct LingeringSecrets: Sendable {
    /// How long a place stays hidden, at least, after a window has left it.
    package static let time = MediaTime.milliseconds(250)
    /// The same if the window has left the screen. Managers fade it out: picom in 330 ms by default.
    package static let fadingTime = MediaTime.seconds(1)
    /// On a busy machine, a compositing manager paints as late as the server answers, and it sends many requests for
    /// each window. So its delay is taken to be that of this many answers.
    package static let answers = 64
    package static let maxTime = MediaTime.seconds(2)

    /// Places that were secret in recent pictures.
    private var places: [(place: CaptureRectangle, until: MediaTime)] = []
    private var left = LeftPlaces()
    private var paths = AnimationPaths()
    private var everywhereUntil: MediaTime?
    /// The longest time that the server has taken to answer. It decays with each picture.
    private var slowest = MediaTime.zero
    /// When a picture may hide less than the last one; nil for never.
    package private(set) var nextEnd: MediaTime?

    package init() {}

    /// Notes that a secret window has left a place, where a compositing manager may still show it.
    ///
    /// - Parameter isGone: whether the window has left the screen.
    package mutating func left(_ place: CaptureRectangle, by window: UInt32?, isGone: Bool = false, now: MediaTime) {
        let time = lateness(isGone ? Self.fadingTime : Self.time)
        left.note(place, of: window, isGone: isGone, now: now, for: time)
    }

    /// Notes that a compositing manager may animate a secret window along a path, for some time.
    mutating func animates(along path: AnimationPaths.Path, now: MediaTime) {
        paths.note(path, for: lateness(Self.fadingTime), now: now)
    }

    /// Forgets the paths of a window that turns out to be harmless when it is read for the first time.
    mutating func forgetGuesses(of window: UInt32) { paths.forgetGuesses(of: window) }

    /// Keeps the paths of a window that has gone before it was read.
    mutating func keepGuesses(of window: UInt32) { paths.keepGuesses(of: window) }

    /// Whether no place is known that stays hidden for a while.
    var isEmpty: Bool { places.isEmpty && everywhereUntil == nil && left.isEmpty && paths.all.isEmpty }

    /// How late a compositing manager may paint: at least `time`, at most `maxTime`.
    private func lateness(_ time: MediaTime) -> MediaTime {
        min(max(time, MediaTime(nanoseconds: slowest.nanoseconds * Int64(Self.answers))), Self.maxTime)
    }

    /// The area that the compositing manager has to paint, because the server has not reported it as painted, or an
    /// effect seems to be over there; nil for none.
    package mutating func takeRequest(now: MediaTime) -> CaptureRectangle? {
        let (left, passed) = (left.takeRequest(now: now), paths.takeRequest(now: now))
        guard let left, let passed else { return left ?? passed }
        return left.joined(with: passed)
    }

    /// The screen has another size.
    package mutating func resize(to bounds: CaptureRectangle) {
        left.resize(to: bounds)
        paths.resize(to: bounds)
    }

    /// Notes how long the server has taken to answer.
    package mutating func answered(in time: MediaTime) { slowest = max(slowest, time) }

    /// Begins a picture: older answers count less.
    package mutating func beginPicture() { slowest = MediaTime(nanoseconds: slowest.nanoseconds * 7 / 8) }

    /// Notes what was painted between the picture before, sent or not, and this one.
    ///
    /// - Parameter now: a time after the picture was made.
    package mutating func painted(_ painted: PaintedAreas, now: MediaTime) {
        left.painted(painted, now: now)
        paths.painted(painted, now: now)
    }

    /// Also hides what was hidden a moment ago.
    ///
    /// - Parameters:
    ///   - secrets: what is secret now.
    ///   - now: the time of the picture.
    package mutating func extend(_ secrets: inout WindowSecrets, now: MediaTime) {
        places.removeAll { $0.until <= now || secrets.places.contains($0.place) }
        if let until = everywhereUntil, until <= now { everywhereUntil = nil }
        nextEnd = secrets.isEverywhere ? nil : everywhereUntil
        let (own, isEverywhere) = (secrets.places.count, secrets.isEverywhere)
        for (place, until) in places {
            secrets.hide(place)
            nextEnd = MediaTime.sooner(nextEnd, until)
        }
        nextEnd = MediaTime.sooner(nextEnd, left.hide(in: &secrets, now: now))
        nextEnd = MediaTime.sooner(nextEnd, paths.hide(in: &secrets, now: now))
        if everywhereUntil != nil { secrets.hideEverything() }
        for index in 0..<own { places.append((secrets.places[index], now + Self.time)) }
        if isEverywhere { everywhereUntil = now + Self.time }
    }
}
