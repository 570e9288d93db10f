internal import Grabbing
package import UpcastClient

/// What of the root window must not be shown. Pure.
package struct WindowSecrets: Equatable, Sendable {
    /// In pixels of the root window.
    package private(set) var places: [CaptureRectangle] = []
    /// Nothing may be shown.
    package private(set) var isEverywhere = false

    package var isEmpty: Bool { places.isEmpty && !isEverywhere }

    package init() {}

    /// Hides nothing. Its memory stays.
    package mutating func clear() {
        places.removeAll(keepingCapacity: true)
        isEverywhere = false
    }

    package mutating func hide(_ place: CaptureRectangle, isEverywhere: Bool = false) {
        if isEverywhere { self.isEverywhere = true }
        if place.width > 0, place.height > 0, !places.contains(place) { places.append(place) }
    }

    package mutating func hideEverything() { isEverywhere = true }

    /// Hides a place with one that is hidden already, and as little else as possible.
    private static func join(_ place: CaptureRectangle, to others: inout [CaptureRectangle]) {
        guard let index = CaptureRectangle.leastGrown(others, by: place) else { return }
        others[index] = others[index].joined(with: place)
    }

    /// Writes them as a frame of a part of the root window has them. If they are more than a frame can have, some are
    /// joined.
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
        // In an order that is the same for the same places: frames with other regions are never taken for unchanged.
        regions.rectangles.sort { ($0.x, $0.y, $0.width, $0.height) < ($1.x, $1.y, $1.width, $1.height) }
    }
}
