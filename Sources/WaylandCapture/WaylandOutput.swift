package import MediaCore
package import UpcastClient

/// An output of a compositor's: a monitor, as the program sees it.
package struct WaylandOutput: Equatable, Sendable {
    /// Its number among the compositor's objects; another one when it comes back.
    package var id: UInt32
    package var name: String
    /// Its place in the desktop, in the compositor's logical pixels.
    package var area: CaptureRectangle
    /// Pixels of its pictures, which are stored as the output shows them: before they are turned.
    package var width: Int
    package var height: Int
    package var transform: OutputTransform
    /// From one picture to the next; nil if the compositor does not tell.
    package var refresh: MediaTime?

    package init(
        id: UInt32, name: String, area: CaptureRectangle, width: Int, height: Int,
        transform: OutputTransform = .normal, refresh: MediaTime? = nil
    ) {
        (self.id, self.name, self.area) = (id, name, area)
        (self.width, self.height, self.transform) = (width, height, transform)
        self.refresh = refresh
    }

    /// Whether its pictures have another size or orientation than those of another output.
    func looksLike(_ other: Self) -> Bool {
        id == other.id && width == other.width && height == other.height && transform == other.transform
            && area.width == other.area.width && area.height == other.area.height
    }
}
