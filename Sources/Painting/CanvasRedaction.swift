package import FrameGeometry
package import MediaCore

/// Paints over regions of a picture that is already on the canvas, for regions that are added later.
package enum CanvasRedaction {
    /// Paints over the places of `regions` on the canvas. `regions` belong to the stored sample of `plan`.
    package static func paint(
        _ regions: SecureRegions, of plan: GeometryPlan, on canvas: PicturePlanes, _ color: CanvasColor
    ) {
        if regions.coversAll { return canvas.part(plan.destination).fill(color) }
        for index in 0..<regions.count {
            if let rectangle = place(regions[index], plan) { canvas.part(rectangle).fill(color) }
        }
    }

    /// The place of a sample's rectangle on the canvas: even, widened, within the picture; nil if it is outside.
    private static func place(_ region: SecureRegions.Rectangle, _ plan: GeometryPlan) -> PixelRect? {
        let (crop, destination) = (plan.crop, plan.destination)
        func share(_ edge: UInt16, _ origin: Int, _ length: Int) -> Double {
            (Double(edge) - Double(origin)) / Double(length)
        }
        // The edges as shares of the shown part. A transform applies to them as it does to pixels.
        let edges = plan.transform.upright(
            RectEdges(
                left: share(region.left, crop.x, crop.width), top: share(region.top, crop.y, crop.height),
                right: share(region.right, crop.x, crop.width), bottom: share(region.bottom, crop.y, crop.height)),
            width: 1, height: 1)
        let upright = plan.transform.swapsAxes ? (crop.height, crop.width) : (crop.width, crop.height)
        // Canvas pixels around the rectangle that depend on it.
        func more(_ length: Int, _ source: Int) -> Double {
            let scale = Double(length) / Double(source)
            // In canvas pixels: two source pixels for the filter of the capturing side, half a chroma sample of the
            // source, the kernel's two chroma samples of the coarser grid, and half a chroma sample of the canvas.
            return (2 + 1) * scale + 2 * 2 * max(1, scale) + 1
        }
        let (wide, high) = (more(destination.width, upright.0), more(destination.height, upright.1))
        func first(_ share: Double, _ length: Int, _ more: Double) -> Int {
            max(0, Int((share * Double(length) - more).rounded(.down)) & ~1)
        }
        func end(_ share: Double, _ length: Int, _ more: Double) -> Int {
            min(length, (Int((share * Double(length) + more).rounded(.up)) + 1) & ~1)
        }
        let (left, top) = (first(edges.left, destination.width, wide), first(edges.top, destination.height, high))
        let (right, bottom) = (end(edges.right, destination.width, wide), end(edges.bottom, destination.height, high))
        guard left < right, top < bottom else { return nil }
        return PixelRect(
            x: destination.x + left, y: destination.y + top, width: right - left, height: bottom - top)
    }
}
