internal import Grabbing
package import UpcastClient

/// What the server reports as painted between two pictures, in pixels of the root window. Pure.
package struct PaintedAreas: Equatable, Sendable {
    /// Surely painted. At most a fixed number of areas, so that others may be missing.
    package var areas: [CaptureRectangle]
    /// The bounding box of all that was painted, if areas are missing.
    package var bounds: CaptureRectangle?

    package init(_ areas: [CaptureRectangle], bounds: CaptureRectangle? = nil) {
        (self.areas, self.bounds) = (areas, bounds)
    }

    /// Whether something may have been painted in a place.
    func mayTouch(_ place: CaptureRectangle) -> Bool {
        if let bounds { return place.intersection(bounds) != nil }
        return areas.contains { place.intersection($0) != nil }
    }

    /// What of some places was not painted, or may not have been.
    func missing(of places: [CaptureRectangle]) -> [CaptureRectangle] {
        CaptureRectangle.parts(of: places, without: areas)
    }
}
