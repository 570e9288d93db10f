package import MediaCore
package import UpcastClient

/// Keeps what was hidden hidden for a moment: with a compositing manager, the screen shows a window where it was some
/// frames ago, and fades it out after it is gone. Pure.
package struct LingeringSecrets: Sendable {
    /// How long a place stays hidden after the window has left it, at least.
    package static let time = MediaTime.milliseconds(250)
    /// The same if the window is not on the screen any more. Managers fade it out: picom in 330 ms by default.
    package static let fadingTime = MediaTime.seconds(1)
    /// On a busy machine, a compositing manager paints as late as the server makes pictures and tells of windows: it
    /// asks often for each window.
    package static let answers = 64
    package static let maxTime = MediaTime.seconds(2)

    /// What the last picture hid.
    private var places: [(place: CaptureRectangle, until: MediaTime)] = []
    private var left = LeftPlaces()
    private var passed = PassedPlaces()
    private var everywhereUntil: MediaTime?
    /// The longest time that an answer of the server has taken; it fades with each picture.
    private var slowest = MediaTime.zero
    /// When less may be hidden than in the last picture; nil for never.
    package private(set) var nextEnd: MediaTime?

    package init() {}

    /// A secret window has left a place, which a compositing manager may still show.
    ///
    /// - Parameter isGone: the window is not on the screen any more.
    package mutating func left(_ place: CaptureRectangle, by window: UInt32, isGone: Bool = false, now: MediaTime) {
        left.note(place, of: window, now: now, for: lateness(isGone ? Self.fadingTime : Self.time))
    }

    /// A secret window may be on its way across a place, which a compositing manager shows for some time.
    package mutating func passes(_ place: CaptureRectangle, now: MediaTime) {
        passed.note(place, until: now + lateness(Self.fadingTime), now: now)
    }

    /// How late a compositing manager may be, at least a time.
    private func lateness(_ time: MediaTime) -> MediaTime {
        min(max(time, MediaTime(nanoseconds: slowest.nanoseconds * Int64(Self.answers))), Self.maxTime)
    }

    /// The area that the compositing manager is to paint, because nothing says that it has; nil for none.
    package mutating func takeRequest(now: MediaTime) -> CaptureRectangle? { left.takeRequest(now: now) }

    /// The screen has another size.
    package mutating func resize(to bounds: CaptureRectangle) { left.resize(to: bounds) }

    /// The server has answered within this time.
    package mutating func answered(in time: MediaTime) { slowest = max(slowest, time) }

    /// A picture is to be judged: older answers count less.
    package mutating func beginPicture() { slowest = MediaTime(nanoseconds: slowest.nanoseconds * 7 / 8) }

    /// This has changed since the picture before, sent or not, in pixels of the root window.
    package mutating func painted(_ areas: [CaptureRectangle]) { left.painted(areas) }

    /// Adds what was hidden a moment ago.
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
        nextEnd = MediaTime.sooner(nextEnd, passed.hide(in: &secrets, now: now))
        if everywhereUntil != nil { secrets.hideEverything() }
        for index in 0..<own { places.append((secrets.places[index], now + Self.time)) }
        if isEverywhere { everywhereUntil = now + Self.time }
    }
}
