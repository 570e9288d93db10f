package import MediaCore

/// A moving test picture without symmetry: coloured quadrants, a big F, an arrow that points up, a label, a frame
/// counter, and a bar that crosses the picture every two seconds.
///
/// It is stored as a device in the given orientation would store it, so that receivers who apply the tag see it
/// upright. The stored size is constant, so quarter turns change the shape of the upright picture. The still parts are
/// drawn once for each orientation, so that a frame costs little.
package final class PatternVideo: VideoSource {
    package let rate: FrameRate
    package let isFinite = false
    package var format: VideoSampleFormat { canvas.format }
    package var pixels: [UInt8] { canvas.bytes }

    private let convention: OrientationConvention
    private var canvas: PatternCanvas
    /// The orientation in which the still parts were drawn; `.some(nil)` for a picture without a tag.
    private var drawn: OrientationTag??
    private var bar: PatternRect?

    private static let barPeriod = MediaTime.seconds(2)

    /// - Parameters:
    ///   - format: the format of the stored pictures.
    ///   - convention: how receivers read the tags.
    package init(format: VideoSampleFormat, rate: FrameRate, convention: OrientationConvention) {
        self.rate = rate
        self.convention = convention
        canvas = PatternCanvas(format: format)
    }

    package func advance(
        frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory
    ) throws -> Bool {
        draw(frame: frame, time: time, orientation: orientation)
        let target = try unsafe memory(format)
        unsafe pixels.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        return true
    }

    /// Draws a frame into `pixels`.
    package func draw(frame: Int64, time: MediaTime, orientation: OrientationTag?) {
        if drawn != .some(orientation) {
            canvas.transform = convention.uprightTransform(for: orientation ?? .up)
            drawResting(label: orientation.map { "\($0)".uppercased() } ?? "NO TAG")
            drawn = .some(orientation)
            bar = nil
        }
        drawCounter(frame)
        drawBar(time)
    }

    // All coordinates are even, so that chroma, which covers two by two pixels, is the same in all orientations.
    private func even(_ value: Int) -> Int { value & ~1 }
    private var unit: Int { max(2, even(min(canvas.uprightWidth, canvas.uprightHeight) / 24)) }
    private var lane: PatternRect {
        PatternRect(x: 0, y: even(canvas.uprightHeight) - 2 * unit, width: canvas.uprightWidth, height: unit)
    }

    private func drawResting(label: String) {
        let (width, height, u) = (canvas.uprightWidth, canvas.uprightHeight, unit)
        let (middle, centre) = (even(width / 2), even(height / 2))
        func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ color: PatternColor) {
            canvas.fill(PatternRect(x: x, y: y, width: width, height: height), color)
        }
        fill(0, 0, middle, centre, .red)
        fill(middle, 0, width - middle, centre, .green)
        fill(0, centre, middle, height - centre, .blue)
        fill(middle, centre, width - middle, height - centre, .yellow)

        fill(3 * u, 4 * u, 2 * u, 12 * u, .white)
        fill(3 * u, 4 * u, 8 * u, 2 * u, .white)
        fill(3 * u, 9 * u, 6 * u, 2 * u, .white)

        let tip = width - even(width / 4)
        fill(tip - u, 6 * u, 2 * u, 8 * u, .black)
        for step in 0..<u { fill(tip - 2 * step - 2, 4 * u + 2 * step, 4 * step + 4, 2, .black) }

        let scale = max(2, even(u / 6))
        let size = "\(format.width)X\(format.height) \(format.pixelFormat.fourCC)".uppercased()
        canvas.draw(size, x: 2 * u, y: 17 * u, scale: scale, .white)
        canvas.draw(label, x: 2 * u, y: 17 * u + 8 * scale, scale: scale, .white)
        canvas.fill(lane, .gray)
    }

    private func drawCounter(_ frame: Int64) {
        let scale = max(2, even(unit / 4))
        let digits = String(frame % 1_000_000)
        let text = String(repeating: "0", count: 6 - digits.count) + digits
        let panel = PatternRect(
            x: 2 * unit, y: unit, width: (6 * (BitmapFont.width + 1) + 1) * scale,
            height: (BitmapFont.height + 2) * scale)
        canvas.fill(panel, .black)
        canvas.draw(text, x: panel.x + scale, y: panel.y + scale, scale: scale, .white)
    }

    private func drawBar(_ time: MediaTime) {
        if let bar { canvas.fill(bar, .gray) }
        let phase = Int(time.nanoseconds % Self.barPeriod.nanoseconds)
        let path = max(0, lane.width - 2 * unit)
        let x = even(Int(Int64(path) * Int64(phase) / Self.barPeriod.nanoseconds))
        let next = PatternRect(x: x, y: lane.y, width: 2 * unit, height: lane.height)
        canvas.fill(next, .white)
        bar = next
    }
}
