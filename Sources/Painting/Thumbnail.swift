internal import FrameGeometry
package import MediaCore

/// A small copy of a canvas, in the colours of JPEG files (JFIF: BT.601, full range).
///
/// Holds its picture and a row for the conversion. Used by one thread at a time.
package final class Thumbnail {
    package static let color = ColorDescription(matrix: .bt601, range: .full)
    package let picture: Picture
    private let conversion: ColorConversion?
    private let converter = ColorConverter()

    /// A thumbnail that is not larger than `canvas`.
    ///
    /// - Parameter longest: pixels of the longer side.
    package init(of canvas: CanvasFormat, longest: Int) {
        let size = Self.size(of: canvas, longest: longest)
        picture = Picture(width: size.width, height: size.height)
        conversion = ColorConversion(from: canvas.color, to: Self.color)
    }

    /// Its memory in bytes.
    package static func memoryBytes(of canvas: CanvasFormat, longest: Int) -> Int {
        let size = size(of: canvas, longest: longest)
        return Picture.byteCount(width: size.width, height: size.height) + ColorConverter.memoryBytes
    }

    /// The size in even pixels, with the canvas's shape.
    package static func size(of canvas: CanvasFormat, longest: Int) -> (width: Int, height: Int) {
        let whole = max(canvas.width, canvas.height)
        let length = min(whole, longest)
        return (max(2, canvas.width * length / whole / 2 * 2), max(2, canvas.height * length / whole / 2 * 2))
    }

    /// Copies the canvas, averaging areas.
    package func take(_ canvas: PicturePlanes) {
        let planes = picture.planes
        canvas.scale(to: planes, .areas)
        if let conversion { converter.convert(planes, by: conversion) }
    }
}
