/// A part of a frame, in pixels of the frame as it is stored, before it is turned, from its top left corner. It may lie
/// outside of the frame, partly or wholly, be empty, and overlap others.
public struct CaptureRectangle: Equatable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}
