package import Grabbing
package import MediaCore

/// The format of a compositor's pictures. Pure.
package struct WaylandFormat: Equatable, Sendable {
    /// A value of wl_shm.format.
    package let code: UInt32
    package let pixelFormat: PixelFormat
    package let width: Int
    package let height: Int

    /// - Parameters:
    ///   - code: a value of wl_shm.format.
    ///   - stride: bytes from one row to the next, as the compositor requests.
    ///   - isCut: only a part of the picture is sent.
    /// - Throws: for pictures that the daemon does not accept.
    package init(
        code: UInt32, width: UInt32, height: UInt32, stride: UInt32, isCut: Bool = false
    ) throws(ScreenError) {
        switch code {
        case 0, 1: pixelFormat = .bgra
        case Self.fourCC("AB24"), Self.fourCC("XB24"): pixelFormat = .rgba
        default:
            throw ScreenError(
                "the compositor gives pictures in the format \(Self.name(code)), which upcast-screen cannot send; it "
                    + "sends XRGB8888, ARGB8888, XBGR8888 and ABGR8888 (in sway: output NAME render_bit_depth 8)")
        }
        let isTooLarge = isCut && max(width, height) > Self.longestSide
        guard !isTooLarge else {
            throw ScreenError(
                "pictures of \(width)x\(height) pixels are too large to cut out a part: their sides have at most "
                    + "\(Self.longestSide) pixels", isTemporary: true)
        }
        guard isCut || ScreenArea.canBeSent(width: Int(width), height: Int(height)) else {
            throw ScreenError(
                "pictures of \(width)x\(height) pixels cannot be sent: \(ScreenArea.limits); choose a part of the "
                    + "output with --area",
                isTemporary: true)
        }
        guard stride == width * 4 else {
            throw ScreenError(
                "the compositor wants rows of \(stride) bytes for \(width) pixels; upcast-screen sends rows of "
                    + "\(width * 4)")
        }
        (self.code, self.width, self.height) = (code, Int(width), Int(height))
    }

    /// Of a picture of which a part is sent, which needs up to 256 MiB.
    private static let longestSide: UInt32 = 8192

    private static func fourCC(_ text: String) -> UInt32 {
        text.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func name(_ code: UInt32) -> String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) }
        return bytes.allSatisfy { (0x20..<0x7f).contains($0) }
            ? String(decoding: bytes, as: UTF8.self) : "\(code)"
    }
}
