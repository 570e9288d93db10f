internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// The pointer in the frames of a display: X servers leave it out of the pictures that they give. One thread.
struct PointerLayer {
    private let display: X11Connection
    private let isShown: Bool
    private var looks: PointerLooks
    private var shape = PointerShape()
    private var place: (x: Int, y: Int)?
    /// Where it is drawn in the last frame; nil if it is not.
    private(set) var drawn: CaptureRectangle?

    init(_ display: X11Connection, isShown: Bool, _ rate: FrameRate) {
        self.display = display
        self.isShown = isShown && display.hasPointer
        looks = PointerLooks(rate, isReported: display.reportsMotion)
    }

    /// Begins to follow it.
    mutating func begin() throws {
        guard isShown else { return }
        display.watchMotion(true)
        try readShape()
    }

    /// X servers with the extension SECURITY keep a shape to themselves once the program that made it has ended. Then
    /// the last one that was known is drawn: viewers must not lose the pointer.
    private mutating func readShape() throws {
        if let told = try display.pointerImage() {
            shape.change(to: told.image, isNamed: told.isNamed)
        } else if shape.isVisible {
            shape.keep()
        } else {
            shape.change(to: .arrow, isNamed: true)
        }
    }

    /// It has another shape, which is read before the next picture: later than that, it may be of a window that the
    /// picture does not have.
    ///
    /// - Returns: whether that is seen.
    mutating func shapeChanged() -> Bool {
        shape.noteChange()
        return isShown
    }

    /// Anything on the screen is secret.
    mutating func noteSecrets() { shape.noteSecrets() }

    /// The server says that it moves. A mouse can do so a thousand times a second: the server is to be silent until
    /// somebody looks.
    mutating func noteMotion() {
        if looks.noteMotion() { display.watchMotion(false) }
    }

    /// When to look; nil if it is not shown.
    var nextLook: MediaTime? { isShown ? looks.due : nil }

    /// Looks where it is, if that is due.
    ///
    /// - Returns: whether it has moved; nil if it is not due.
    mutating func look(now: MediaTime) throws -> Bool? {
        guard let due = nextLook, due <= now else { return nil }
        try pictureBegins(now: now)
        let old = place
        place = try display.pointer()
        return found(old)
    }

    /// - Returns: whether the pointer has moved from there.
    private mutating func found(_ old: (x: Int, y: Int)?) -> Bool {
        let hasMoved = old?.x != place?.x || old?.y != place?.y
        looks.found(hasMoved: hasMoved)
        return hasMoved
    }

    /// A picture is going to be made, which says where the pointer is.
    mutating func pictureBegins(now: MediaTime) throws {
        guard isShown else { return }
        if shape.isStale { try readShape() }
        // Before the server is asked: what moves after its answer is told.
        if looks.looked(now: now) { display.watchMotion(true) }
    }

    /// Draws it into a picture.
    ///
    /// - Parameter area: of the root window, that the picture shows.
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
