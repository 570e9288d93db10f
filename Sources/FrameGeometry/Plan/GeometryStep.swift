package import MediaCore

/// One step of a plan, in order of execution; for tests, documentation and logs.
package enum GeometryStep: Equatable, Sendable, CustomStringConvertible {
    /// The pixels as the client sent them, band by band. Anything that must precede all other steps happens here. No
    /// code has read the samples yet, so regions that are hidden here stay hidden.
    case sourcePixels(PixelFormat, crop: PixelRect)
    /// Unpack to 8-bit planes of one component each.
    case unpack(width: Int, height: Int)
    case scale(width: Int, height: Int)
    case turn(UprightTransform)
    case convertColor(to: ColorDescription)
    case place(PixelRect)

    package var description: String {
        switch self {
        case .sourcePixels(let format, let crop): "source pixels \(crop) of \(format.fourCC)"
        case .unpack(let width, let height): "unpack to planes of \(width)x\(height)"
        case .scale(let width, let height): "scale to \(width)x\(height)"
        case .convertColor(let color): "convert colour to \(color.matrix) \(color.range)"
        case .turn(let transform): "turn by \(transform)"
        case .place(let rect): "place at \(rect)"
        }
    }
}

extension GeometryPlan {
    /// The steps of this plan. Steps that change nothing are left out.
    package var steps: [GeometryStep] {
        var steps: [GeometryStep] = [.sourcePixels(source.pixelFormat, crop: crop)]
        if source.pixelFormat.needsUnpacking { steps.append(.unpack(width: crop.width, height: crop.height)) }
        let stored = transform.stored(destination.width, destination.height)
        if (0..<source.pixelFormat.componentCount).contains(where: isScaled) {
            steps.append(.scale(width: stored.width, height: stored.height))
        }
        if transform != .identity { steps.append(.turn(transform)) }
        if colorConversion != nil { steps.append(.convertColor(to: canvas.color)) }
        steps.append(.place(destination))
        return steps
    }

    private func isScaled(_ component: Int) -> Bool {
        let size = pictureComponentSize(component)
        return componentSize(component) != transform.stored(size.width, size.height)
    }
}
