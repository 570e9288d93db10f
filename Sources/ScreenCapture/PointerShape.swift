internal import Grabbing

/// The pointer's shape, and whether it may be drawn. Pure.
///
/// Programs can put their content into the pointer, such as a dragged item (GTK 2), and no server tells which program
/// set the shape. Most theme shapes have a name, which libXcursor sets (XFIXES). Once something on the screen has been
/// secret, an unnamed shape is drawn as an arrow, until the pointer gets a named shape or is hidden.
struct PointerShape {
    private var image = PointerImage.none
    private var isNamed = false
    /// Whether any pixel of the shape is visible.
    private(set) var isVisible = false
    private var isDistrusted = false
    /// The pointer has a newer shape, which has not been read.
    private(set) var isStale = false

    private var isHarmless: Bool { isNamed || !isVisible }

    /// The pointer has another shape, which is not known yet.
    mutating func noteChange() { isStale = true }

    /// Something on the screen is secret.
    mutating func noteSecrets() { if isStale || !isHarmless { isDistrusted = true } }

    /// The server has sent the shape.
    mutating func change(to image: PointerImage, isNamed: Bool) {
        (self.image, self.isNamed) = (image, isNamed)
        (isVisible, isStale) = (image.isVisible, false)
        if isHarmless { isDistrusted = false }
    }

    /// The server hides the shape, so the last one is drawn.
    mutating func keep() { isStale = false }

    /// The image to draw.
    var drawn: PointerImage { isHarmless || !isDistrusted && !isStale ? image : .arrow }
}
