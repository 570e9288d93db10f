internal import ControlProtocol

/// A rectangle to keep hidden, in the picture as it is seen upright.
///
/// It may reach beyond the picture. Its edges are widened by some pixels, because scaling and the encoder spread
/// pixels.
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

    /// The request that hides the region, without the app's name.
    var request: RegionRequest {
        var request = RegionRequest()
        (request.x, request.y, request.width, request.height) = (x, y, width, height)
        request.unit = unit
        return request
    }
}
