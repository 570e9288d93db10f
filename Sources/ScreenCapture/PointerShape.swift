internal import Grabbing

/// The pointer's shape, and whether it may be drawn. Pure.
///
/// Programs put their content into the pointer, such as what is dragged (GTK 2), and no server says whose shape it is.
/// Most shapes of themes have a name, which libXcursor sets (XFIXES). Others are drawn as an arrow once anything on the
/// screen has been secret, until the pointer has a shape with a name, or is hidden.
struct PointerShape {
    private var image = PointerImage.none
    private var isNamed = false
    /// Something is seen of it.
    private(set) var isVisible = false
    private var isDistrusted = false
    /// The pointer has another shape by now.
    private(set) var isStale = false

    private var isHarmless: Bool { isNamed || !isVisible }

    /// The pointer has another shape, which is not known yet.
    mutating func noteChange() { isStale = true }

    /// Anything on the screen is secret.
    mutating func noteSecrets() { if isStale || !isHarmless { isDistrusted = true } }

    /// The server has told the shape.
    mutating func change(to image: PointerImage, isNamed: Bool) {
        (self.image, self.isNamed) = (image, isNamed)
        (isVisible, isStale) = (image.isVisible, false)
        if isHarmless { isDistrusted = false }
    }

    /// The server keeps the shape to itself: the last one is drawn.
    mutating func keep() { isStale = false }

    /// What is drawn.
    var drawn: PointerImage { isHarmless || !isDistrusted && !isStale ? image : .arrow }
}
