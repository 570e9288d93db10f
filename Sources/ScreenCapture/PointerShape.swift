internal import Grabbing

/// The pointer's shape, and whether it may be drawn. Pure.
///
/// Programs put their content into the pointer, such as what is dragged (GTK 2), and no server says whose shape it is.
/// Shapes of themes have a name, which libXcursor sets (XFIXES). Others are drawn as an arrow as soon as anything on
/// the screen is secret, until the pointer has another shape.
struct PointerShape {
    private var image = PointerImage.none
    private var isNamed = false
    /// Something is seen of it.
    private(set) var isVisible = false
    private var isDistrusted = false

    /// The server has told another shape.
    mutating func change(to image: PointerImage, isNamed: Bool) {
        (self.image, self.isNamed) = (image, isNamed)
        (isVisible, isDistrusted) = (image.isVisible, false)
    }

    /// What is drawn.
    mutating func drawn(besideSecrets: Bool) -> PointerImage {
        if besideSecrets, isVisible, !isNamed { isDistrusted = true }
        return isDistrusted ? .arrow : image
    }
}
