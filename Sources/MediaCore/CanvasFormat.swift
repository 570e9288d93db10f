/// The picture that is encoded: its size, rate and colour are fixed for the life of a broadcast. Always I420.
package struct CanvasFormat: Equatable, Sendable {
    /// Even, 16 to 4096.
    package var width: Int
    /// Even, 16 to 4096.
    package var height: Int
    /// The highest frame rate that is encoded; fewer frames may come.
    package var frameRate: FrameRate
    package var color: ColorDescription

    package init(width: Int, height: Int, frameRate: FrameRate, color: ColorDescription = .hd) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.color = color
    }
}
