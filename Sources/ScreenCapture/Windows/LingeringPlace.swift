internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// A place where a compositing manager may still show secret windows. It is hidden until its end.
protocol LingeringPlace {
    /// In pixels of the root window.
    var place: CaptureRectangle { get set }
    /// The parts that the manager has to paint before the place may be shown. After a request, what it is asked for.
    var unpainted: [CaptureRectangle] { get set }
    /// When the place is no longer hidden; nil while that is unknown.
    var end: MediaTime? { get }
    /// When to ask the manager to paint the place; nil for never.
    var nextRequest: MediaTime? { get }
    /// Notes that the manager is asked to paint the place.
    mutating func noteAsked(now: MediaTime)
    /// Notes what was painted on the screen between the picture before and this one.
    ///
    /// - Parameter now: a time after the picture was made.
    mutating func paint(_ painted: PaintedAreas, now: MediaTime)
}

extension LingeringPlace {
    fileprivate func isOver(_ now: MediaTime) -> Bool { end.map { $0 <= now } ?? false }
}

extension Array where Element: LingeringPlace {
    mutating func paint(_ painted: PaintedAreas, now: MediaTime) {
        for index in indices { self[index].paint(painted, now: now) }
    }

    /// Adapts to a new screen size. Nothing is painted beyond the edges.
    mutating func resize(to bounds: CaptureRectangle) {
        self = compactMap { old in
            var new = old
            guard let place = old.place.intersection(bounds) else { return nil }
            (new.place, new.unpainted) = (place, old.unpainted.compactMap { $0.intersection(bounds) })
            return new
        }
    }

    /// The bounding box of all parts that the manager has to paint now; nil for none.
    mutating func takeRequest(now: MediaTime) -> CaptureRectangle? {
        var area: CaptureRectangle?
        for index in indices {
            guard !self[index].isOver(now), let due = self[index].nextRequest, due <= now else { continue }
            self[index].noteAsked(now: now)
            for part in self[index].unpainted { area = area?.joined(with: part) ?? part }
        }
        return area
    }

    /// Forgets places whose time is over, and hides the others. Returns when the next one ends, or has to be painted.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        removeAll { $0.isOver(now) }
        var next: MediaTime?
        for element in self {
            secrets.hide(element.place)
            next = MediaTime.sooner(next, MediaTime.sooner(element.end, element.nextRequest))
        }
        return next
    }
}
