internal import Grabbing
package import UpcastClient

/// The pixels that secure windows leave on the screen.
extension WindowModel {
    /// The places that show a secure window that is no longer there, without those that existing secure windows cover.
    package var leftBehind: [CaptureRectangle] {
        var places = ghosts.places
        for (id, window) in windows where window.isViewable && mayBeSecure(id) {
            guard let place = window.place else { return [] }
            places = places.flatMap { $0.without(place) }
        }
        return places
    }

    /// Whether a child of the root window is on the screen.
    func isViewable(_ window: UInt32) -> Bool { windows[window]?.isViewable ?? false }

    /// The windows on the screen that cover a part of an area, and that a compositing manager paints.
    func shown(in area: CaptureRectangle) -> [(window: UInt32, place: CaptureRectangle)] {
        windows.compactMap { id, window in
            guard window.isViewable, !isOwn(id), !isOverlay(id), let place = window.place,
                place.intersection(area) != nil
            else { return nil }
            return (id, place)
        }
    }

    /// Takes over another size of the screen. Servers may then show its old pixels anywhere. A screen that grows may
    /// show what was there before it shrank.
    ///
    /// - Parameter showsSecrets: whether something is hidden, although the windows have gone.
    mutating func resize(to size: CaptureRectangle, showsSecrets: Bool) {
        guard size != bounds else { return }
        bounds = size
        let shows = windows.contains { id, window in window.isViewable && mayBeSecure(id) }
        hasOldPixels = hasOldPixels || showsSecrets || shows || !ghosts.isEmpty
        guard hasOldPixels else { return }
        leaveEverywhere()
        if isComposited { pass(bounds, .passing(nil)) }
    }

    /// The screen may show secure windows anywhere until it is painted over.
    mutating func leaveEverywhere() { if leavesPixels { ghosts.note(bounds, of: 0, in: bounds) } }

    /// Whether an erasure is under way: no picture was made since the request.
    package var isErasing: Bool { erasure != nil }

    /// Notes that places are being painted over.
    ///
    /// - Parameter sequence: the request's number; events with this number or a higher one are of later moments.
    package mutating func erase(_ places: [CaptureRectangle], sequence: UInt32) { erasure = (places, sequence) }

    /// Ends an erasure, because all events before a picture were applied, and the picture is later than all requests.
    package mutating func endPicture() { endErasure() }

    /// - Parameter sequence: the number of the next event; nil for a moment later than any request.
    mutating func endErasure(before sequence: UInt32? = nil) {
        guard let (places, since) = erasure else { return }
        // Sequence numbers wrap around.
        if let sequence, Int32(bitPattern: sequence &- since) < 0 { return }
        // By then, pixels left inside an unwatched window may have moved anywhere in it.
        for window in windows.values where window.isViewable && window.isUnwatched { scatter(in: window.place) }
        ghosts.erased(places)
        erasure = nil
    }

    /// Pixels left inside a window may be anywhere in it.
    mutating func scatter(in place: CaptureRectangle?) {
        guard !ghosts.isEmpty else { return }
        let place = place ?? bounds
        ghosts.spread(from: place, to: place, in: bounds)
    }

    /// Notes what a window leaves behind, before an event is applied.
    mutating func noteLeaving(_ event: WindowEvent) {
        guard leavesPixels || isComposited else { return }
        if event.kind == .movedInside { return scatter(in: top(of: event.window).flatMap { windows[$0]?.place }) }
        guard let window = windows[event.window], window.isViewable else { return }
        let mayBeSecure = mayBeSecure(event.window) || showsStranger(window)
        switch event.kind {
        case .unmapped, .went:
            guard mayBeSecure else { return }
            leave(window.place, of: event.window)
            passTaskbar(event.window)
        case .moved(let place):
            guard place != window.place else { return }
            if mayBeSecure {
                leave(window.place, of: event.window)
                passMove(of: event.window, from: window.place, to: place)
            } else if let old = window.place, old.hasSize(of: place), !window.isUnwatched {
                ghosts.moved(from: old, to: place, in: bounds)
            } else {
                ghosts.spread(from: window.place ?? bounds, to: place, in: bounds)
            }
        case .came, .mapped, .movedInside, .unmappedInside, .changed, .renamed, .cameInside, .rearranged,
            .stateChanged, .iconMoved, .restacked:
            break
        }
    }

    /// Whether all pixels that a window has after an event are pixels that it had before.
    func isWhole(for event: WindowEvent) -> Bool {
        guard leavesPixels else { return true }
        let new: CaptureRectangle?
        switch event.kind {
        case .mapped: return false
        case .moved(let place): new = place
        case .restacked: new = windows[event.window]?.place
        case .came, .went, .unmapped, .movedInside, .unmappedInside, .changed, .renamed, .cameInside, .rearranged,
            .stateChanged, .iconMoved:
            return true
        }
        guard let window = windows[event.window], window.isViewable else { return true }
        // Windows that are above it now may have been below it.
        guard !mayBeSecure(event.window) else { return false }
        guard let old = window.place, let new, old.intersection(bounds) == old else { return false }
        guard new.width <= old.width, new.height <= old.height else { return false }
        return !isCovered(event.window, old)
    }

    /// Notes that a window has pixels that it has not drawn. They show windows below it, and windows above it may show
    /// its pixels.
    mutating func uncover(_ window: UInt32) {
        guard leavesPixels, let known = windows[window], known.isViewable else { return }
        let place = known.place ?? bounds
        for below in stack.below(window) {
            guard let other = windows[below], other.isViewable, mayBeSecure(below),
                let part = place.intersection(other.place ?? bounds)
            else { continue }
            ghosts.note(part, of: below, isCertain: isCertain(below), in: bounds)
        }
        guard mayBeSecure(window), isCovered(window, place) else { return }
        ghosts.note(place, of: window, isCertain: isCertain(window), in: bounds)
    }

    /// Whether pixels that a window leaves are secret, whatever is read of it later.
    func isCertain(_ window: UInt32) -> Bool {
        secure.contains(window) || windows[window].map { $0.stranger == .ended || isSecretForOthers($0) } ?? false
    }

    /// Whether other windows are above a window at a place.
    private func isCovered(_ window: UInt32, _ place: CaptureRectangle) -> Bool {
        stack.above(window).contains { above in
            guard let other = windows[above], other.isViewable else { return false }
            return (other.place ?? bounds).intersection(place) != nil
        }
    }

    func mayBeSecure(_ window: UInt32) -> Bool {
        guard let known = windows[window] else { return true }
        return secure.contains(window) || isSecretForOthers(known) || known.facts.map(mayBeSuspect) ?? known.isDoubtful
    }
}

extension CaptureRectangle {
    func hasSize(of other: Self) -> Bool { width == other.width && height == other.height }
}
