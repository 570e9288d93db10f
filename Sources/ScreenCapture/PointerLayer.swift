internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Draws the pointer into the frames of a display, as X servers leave it out of their pictures. One thread.
struct PointerLayer {
    private let display: X11Connection
    private let isShown: Bool
    private var looks: PointerLooks
    private var shape = PointerShape()
    private var place: (x: Int, y: Int)?
    /// The area in which the pointer was drawn in the last frame; nil if it was not.
    private(set) var drawn: CaptureRectangle?

    init(_ display: X11Connection, isShown: Bool, _ rate: FrameRate) {
        self.display = display
        self.isShown = isShown && display.hasPointer
        looks = PointerLooks(rate, isReported: display.reportsMotion)
    }

    /// Begins to follow the pointer.
    mutating func begin() throws {
        guard isShown else { return }
        display.watchMotion(true)
        try readShape()
    }

    /// X servers with the extension SECURITY hide a shape once the program that made it has ended. The last known shape
    /// is then drawn, so that viewers do not lose the pointer.
    private mutating func readShape() throws {
        if let told = try display.pointerImage() {
            shape.change(to: told.image, isNamed: told.isNamed)
        } else if shape.isVisible {
            shape.keep()
        } else {
            shape.change(to: .arrow, isNamed: true)
        }
    }

    /// The pointer has another shape. It is read before the next picture: read later, it could be the shape of a window
    /// that the picture does not have.
    ///
    /// - Returns: whether frames show the pointer.
    mutating func shapeChanged() -> Bool {
        shape.noteChange()
        return isShown
    }

    /// Something on the screen is secret.
    mutating func noteSecrets() { shape.noteSecrets() }

    /// The server reports that the pointer moves. A mouse can cause a thousand reports a second, so they are turned off
    /// until the next look.
    mutating func noteMotion() {
        if looks.noteMotion() { display.watchMotion(false) }
    }

    /// When to look for the pointer; nil if it is not shown.
    var nextLook: MediaTime? { isShown ? looks.due : nil }

    /// Asks where the pointer is, if that is due.
    ///
    /// - Returns: whether the pointer has moved; nil if no look is due.
    mutating func look(now: MediaTime) throws -> Bool? {
        guard let due = nextLook, due <= now else { return nil }
        try pictureBegins(now: now)
        let old = place
        place = try display.pointer()
        return found(old)
    }

    /// - Returns: whether the pointer has moved from the old place.
    private mutating func found(_ old: (x: Int, y: Int)?) -> Bool {
        let hasMoved = old?.x != place?.x || old?.y != place?.y
        looks.found(hasMoved: hasMoved)
        return hasMoved
    }

    /// A picture is about to be made, and will also tell where the pointer is.
    mutating func pictureBegins(now: MediaTime) throws {
        guard isShown else { return }
        if shape.isStale { try readShape() }
        // Turned on before the server is asked, so that motion after its answer is reported.
        if looks.looked(now: now) { display.watchMotion(true) }
    }

    /// Draws the pointer into a picture.
    ///
    /// - Parameter area: the part of the root window that the picture shows.
    mutating func draw(_ moment: X11Connection.Moment, into frame: CaptureFrame, _ area: CaptureRectangle) {
        let old = place
        (place, drawn) = (moment.pointer, nil)
        _ = found(old)
        guard isShown, let place, case .rgb(let red, let blue) = display.format.pixelFormat.layout else { return }
        let (x, y) = (place.x - area.x, place.y - area.y)
        let image = shape.drawn
        unsafe image.draw(into: frame.bytes, width: area.width, height: area.height, red: red, blue: blue, x: x, y: y)
        drawn = image.area(x: x, y: y)
    }
}
