/// A part of a frame, in pixels from the top left corner of the frame as it is stored, before it is turned. It may be
/// empty, overlap others, and lie partly or wholly outside the frame.
public struct CaptureRectangle: Equatable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}
