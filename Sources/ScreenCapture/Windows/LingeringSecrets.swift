package import MediaCore
internal import UpcastClient

/// Keeps what was hidden hidden for a moment: with a compositing manager, the screen shows a window where it was some
/// frames ago, and fades it out after it is gone. Pure.
package struct LingeringSecrets: Sendable {
    /// How long a place stays hidden after the window has left it.
    package static let time = MediaTime.milliseconds(250)

    private var places: [(place: CaptureRectangle, until: MediaTime)] = []
    private var everywhereUntil: MediaTime?

    package init() {}

    /// Adds what was hidden a moment ago.
    ///
    /// - Parameters:
    ///   - secrets: what is secret now.
    ///   - now: the time of the picture.
    package mutating func extend(_ secrets: WindowSecrets, now: MediaTime) -> WindowSecrets {
        places.removeAll { $0.until <= now || secrets.places.contains($0.place) }
        if let until = everywhereUntil, until <= now { everywhereUntil = nil }
        var all = secrets
        for place in places { all.hide(place.place) }
        if everywhereUntil != nil { all.hide(.init(x: 0, y: 0, width: 0, height: 0), isEverywhere: true) }
        for place in secrets.places { places.append((place, now + Self.time)) }
        if secrets.isEverywhere { everywhereUntil = now + Self.time }
        return all
    }

    /// When less may be hidden than in the last picture; nil for never.
    ///
    /// - Parameter secrets: of the last picture, before they were extended.
    package func nextEnd(after secrets: WindowSecrets) -> MediaTime? {
        let ends = places.filter { !secrets.places.contains($0.place) }.map(\.until)
        return (ends + (secrets.isEverywhere ? [] : [everywhereUntil].compactMap { $0 })).min()
    }
}
