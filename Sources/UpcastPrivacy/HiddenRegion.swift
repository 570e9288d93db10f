internal import ControlProtocol

/// A rectangle of the picture as it is seen upright, to be kept hidden.
///
/// It may reach out of the picture. Its edges are widened by some pixels, for what scaling and the encoder carry over.
public struct HiddenRegion: Hashable, Sendable {
    typealias Unit = RegionRequest.Unit

    let unit: Unit
    /// From the left, in parts of the width or in pixels.
    public let x: Double
    /// From the top, in parts of the height or in pixels.
    public let y: Double
    public let width: Double
    public let height: Double

    /// In parts of the picture's width and height: 0.5 is half of it. It stays right when the picture's size changes.
    public static func normalized(x: Double, y: Double, width: Double, height: Double) -> HiddenRegion {
        HiddenRegion(unit: .normalized, x: x, y: y, width: width, height: height)
    }

    /// In pixels of the upright picture that the capture client sends.
    public static func pixels(x: Double, y: Double, width: Double, height: Double) -> HiddenRegion {
        HiddenRegion(unit: .pixels, x: x, y: y, width: width, height: height)
    }

    /// All of the picture, whatever its size.
    public static let everything = normalized(x: 0, y: 0, width: 1, height: 1)

    /// The request that hides it, but for whose it is.
    var request: RegionRequest {
        var request = RegionRequest()
        (request.x, request.y, request.width, request.height) = (x, y, width, height)
        request.unit = unit
        return request
    }
}
