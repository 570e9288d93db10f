internal import MediaCore

/// Width and height of one component's samples.
struct PlaneSize: Equatable, Sendable {
    var width: Int
    var height: Int
}

extension UprightTransform {
    /// The size, as it is stored, of what is upright with this size.
    func stored(_ width: Int, _ height: Int) -> PlaneSize {
        swapsAxes ? PlaneSize(width: height, height: width) : PlaneSize(width: width, height: height)
    }
}

extension PixelFormat {
    /// 3 (Y, Cb, Cr), or 1 where there is luma only.
    var componentCount: Int { layout == .gray ? 1 : 3 }

    /// False where the payload's planes are 8-bit planes of one component each.
    var needsUnpacking: Bool {
        switch layout {
        case .planar, .gray: false
        default: true
        }
    }

    /// The component that a plane of one component holds.
    func component(ofPlane index: Int) -> Int {
        if case .planar(_, crFirst: true) = layout, index > 0 { 3 - index } else { index }
    }
}

extension GeometryPlan {
    /// Samples of component 0 (Y), 1 (Cb) or 2 (Cr) in the crop, once unpacked. Odd sizes are rounded up for chroma;
    /// scaling to the picture's half size then moves chroma by at most a quarter of its sample at the far edges.
    func componentSize(_ component: Int) -> PlaneSize {
        let (horizontal, vertical) = component == 0 ? (1, 1) : source.pixelFormat.chromaDivisors
        return PlaneSize(
            width: (crop.width + horizontal - 1) / horizontal, height: (crop.height + vertical - 1) / vertical)
    }

    /// Samples of the component in the picture, which is upright I420 of even size.
    func pictureComponentSize(_ component: Int) -> PlaneSize {
        let divisor = component == 0 ? 1 : 2
        return PlaneSize(width: destination.width / divisor, height: destination.height / divisor)
    }
}
