internal import CPlanes
internal import MediaCore

/// Chooses the scaler for a frame. A pure value.
package enum ScalerChoice: Equatable, Sendable {
    /// `native` with AVX2, and without SSSE3, for which libyuv has no code; else `libyuv`.
    case auto
    case always(FrameScaler)

    /// The instruction sets that the kernels can use.
    package enum Processor: Sendable {
        case x86WithAVX2, x86WithSSSE3, x86, other

        package static var own: Processor {
            if upcast_has_avx2() != 0 { return .x86WithAVX2 }
            #if arch(x86_64)
                return upcast_has_ssse3() != 0 ? .x86WithSSSE3 : .x86
            #else
                return .other
            #endif
        }

        /// The scaler for most frames: `native`, which is sharper, unless libyuv is much faster.
        var usual: FrameScaler {
            switch self {
            case .x86WithAVX2, .x86: .native
            case .x86WithSSSE3, .other: .libyuv
            }
        }
    }

    /// - Parameter plan: nil before the first frame.
    package func scaler(for plan: GeometryPlan?, on processor: Processor = .own) -> FrameScaler {
        let wanted =
            switch self {
            case .auto: processor.usual
            case .always(let scaler): scaler
            }
        guard let plan else { return wanted }
        // The kernel would span too many samples; libyuv averages areas instead.
        if Self.shrinksByFar(plan) { return .libyuv }
        // Without scaling both give the same samples, and ours turns 16x16 of them at once.
        if self == .auto, processor == .x86WithSSSE3, Self.keepsSize(plan) { return .native }
        return wanted
    }

    private static func shrinksByFar(_ plan: GeometryPlan) -> Bool {
        (0..<plan.source.pixelFormat.componentCount).contains { component in
            let (from, to) = (plan.componentSize(component), plan.pictureComponentSize(component))
            let stored = plan.transform.stored(to.width, to.height)
            return from.width > BicubicTable.greatestRatio * stored.width
                || from.height > BicubicTable.greatestRatio * stored.height
        }
    }

    private static func keepsSize(_ plan: GeometryPlan) -> Bool {
        let to = plan.pictureComponentSize(0)
        return plan.componentSize(0) == plan.transform.stored(to.width, to.height)
    }

    /// The maximum memory in bytes of a frame's scalers: see `FrameScaler.memoryBytes`.
    func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        let libyuv = FrameScaler.libyuv.memoryBytes(from: from, to: to)
        return self == .always(.libyuv) ? libyuv : max(libyuv, FrameScaler.native.memoryBytes(from: from, to: to))
    }
}
