/// The format of the encoded picture. Size, rate and colour are fixed for a whole broadcast. Always I420.
package struct CanvasFormat: Equatable, Sendable {
    /// Even, 16 to 4096.
    package var width: Int
    /// Even, 16 to 4096.
    package var height: Int
    /// The highest encoded frame rate; the actual rate can be lower.
    package var frameRate: FrameRate
    package var color: ColorDescription

    package init(width: Int, height: Int, frameRate: FrameRate, color: ColorDescription = .hd) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.color = color
    }
}
