internal import MediaCore

/// The parts of a frame that nobody may see. The daemon paints over them before it does anything else with the frame.
public struct CaptureSecureRegions: Equatable, Sendable {
    /// The most rectangles in one frame.
    public static let capacity = SecureRegions.capacityPerSource

    public var rectangles: [CaptureRectangle]
    /// Nothing of the frame is shown (protected content).
    public var coversAll: Bool

    public init(_ rectangles: [CaptureRectangle] = [], coversAll: Bool = false) {
        self.rectangles = rectangles
        self.coversAll = coversAll
    }

    /// All of the frame is shown.
    public static let none = CaptureSecureRegions()
    /// Nothing of the frame is shown.
    public static let wholeFrame = CaptureSecureRegions(coversAll: true)

    /// The regions as the daemon takes them, for a frame of this size.
    func regions(width: Int, height: Int) throws(CaptureError) -> SecureRegions {
        guard rectangles.count <= Self.capacity else {
            throw CaptureError(
                .invalidArgument,
                "\(rectangles.count) secure regions; a frame has at most \(Self.capacity): join some, or hide it all")
        }
        var regions = SecureRegions()
        regions.coversAll = coversAll
        let limit = Int(Int32.max)
        for rectangle in rectangles {
            guard rectangle.width >= 0, rectangle.height >= 0, rectangle.width <= limit, rectangle.height <= limit,
                (-limit...limit).contains(rectangle.x), (-limit...limit).contains(rectangle.y)
            else { throw CaptureError(.invalidArgument, "a secure region's size is negative, or beyond 32 bits") }
            regions.hide(
                x: rectangle.x, y: rectangle.y, width: rectangle.width, height: rectangle.height, pictureWidth: width,
                pictureHeight: height)
        }
        return regions
    }
}
