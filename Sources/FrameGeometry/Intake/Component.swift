internal import MediaCore

/// Width and height of one component, in samples.
struct PlaneSize: Equatable, Sendable {
    var width: Int
    var height: Int
}

extension UprightTransform {
    /// The stored size of a picture that is upright with this size.
    func stored(_ width: Int, _ height: Int) -> PlaneSize {
        swapsAxes ? PlaneSize(width: height, height: width) : PlaneSize(width: width, height: height)
    }
}

extension PixelFormat {
    /// 3 (Y, Cb, Cr), or 1 for luma only.
    var componentCount: Int { layout == .gray ? 1 : 3 }

    /// False if each plane of the payload holds 8-bit samples of one component.
    var needsUnpacking: Bool {
        switch layout {
        case .planar, .gray: false
        default: true
        }
    }

    /// The component that a plane with one component holds.
    func component(ofPlane index: Int) -> Int {
        if case .planar(_, crFirst: true) = layout, index > 0 { 3 - index } else { index }
    }
}

extension GeometryPlan {
    /// The crop's size in samples of component 0 (Y), 1 (Cb) or 2 (Cr), once unpacked. Odd sizes are rounded up for
    /// chroma. Scaling to half of the picture's size then moves chroma by at most a quarter of its sample at the far
    /// edges.
    func componentSize(_ component: Int) -> PlaneSize {
        let (horizontal, vertical) = component == 0 ? (1, 1) : source.pixelFormat.chromaDivisors
        return PlaneSize(
            width: (crop.width + horizontal - 1) / horizontal, height: (crop.height + vertical - 1) / vertical)
    }

    /// The component's size in the picture, which is upright I420 of even size.
    func pictureComponentSize(_ component: Int) -> PlaneSize {
        let divisor = component == 0 ? 1 : 2
        return PlaneSize(width: destination.width / divisor, height: destination.height / divisor)
    }
}
