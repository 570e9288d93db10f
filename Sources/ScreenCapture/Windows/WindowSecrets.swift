internal import Grabbing
package import UpcastClient

/// The parts of the root window that must not be shown. Pure.
package struct WindowSecrets: Equatable, Sendable {
    /// In pixels of the root window.
    package private(set) var places: [CaptureRectangle] = []
    /// Nothing may be shown.
    package private(set) var isEverywhere = false

    package var isEmpty: Bool { places.isEmpty && !isEverywhere }

    package init() {}

    /// Hides nothing from now on. Keeps the memory.
    package mutating func clear() {
        places.removeAll(keepingCapacity: true)
        isEverywhere = false
    }

    package mutating func hide(_ place: CaptureRectangle, isEverywhere: Bool = false) {
        if isEverywhere { self.isEverywhere = true }
        if place.width > 0, place.height > 0, !places.contains(place) { places.append(place) }
    }

    package mutating func hideEverything() { isEverywhere = true }

    /// Joins a place to the rectangle that grows the least, so that little else is hidden.
    private static func join(_ place: CaptureRectangle, to others: inout [CaptureRectangle]) {
        guard let index = CaptureRectangle.leastGrown(others, by: place) else { return }
        others[index] = others[index].joined(with: place)
    }

    /// Writes the places as regions of a frame that shows `area` of the root window. Some are joined if they are more
    /// than a frame can have.
    package func write(into regions: inout CaptureSecureRegions, in area: CaptureRectangle) {
        regions.rectangles.removeAll(keepingCapacity: true)
        regions.coversAll = isEverywhere
        guard !isEverywhere else { return }
        for place in places {
            guard let inside = place.intersection(area)?.relative(to: area) else { continue }
            if regions.rectangles.count < CaptureSecureRegions.capacity {
                regions.rectangles.append(inside)
            } else {
                Self.join(inside, to: &regions.rectangles)
            }
        }
        // The same places need the same order: a frame with other regions is never taken for unchanged.
        regions.rectangles.sort { ($0.x, $0.y, $0.width, $0.height) < ($1.x, $1.y, $1.width, $1.height) }
    }
}
