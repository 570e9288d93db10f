internal import CPlanes
internal import MediaCore

/// Chooses the scaler for a frame. A pure value.
package enum ScalerChoice: Equatable, Sendable {
    /// The faster scaler for the frame on this processor.
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

        /// The faster scaler for most frames.
        var usual: FrameScaler {
            switch self {
            case .x86WithAVX2, .x86: .native
            case .x86WithSSSE3, .other: .libyuv
            }
        }
    }

    /// - Parameter plan: nil before the first frame.
    package func scaler(for plan: GeometryPlan?, on processor: Processor = .own) -> FrameScaler {
        if case .always(let scaler) = self { return scaler }
        guard let plan else { return processor.usual }
        let (from, to) = (plan.componentSize(0), plan.pictureComponentSize(0))
        let stored = plan.transform.stored(to.width, to.height)
        // Measured with `scripts/bench --only geometry`. libyuv scales both sides by 1/2, 1/4 or 3/4 at once, in a
        // third to three quarters of the time.
        let isExact = YUVPlaneScaler.ratio(from, stored, transform: plan.transform) != nil
        switch processor {
        case .x86: return .native
        case .x86WithAVX2: return isExact ? .libyuv : .native
        case .x86WithSSSE3:
            // Turning alone is faster with 16x16 samples at once. If weights repeat only after many samples, libyuv is
            // called for each sample, and the calls dominate the time.
            let isTurnAlone = from == stored
            return isExact || !isTurnAlone && Self.period(from.width, stored.width) <= 16 ? .libyuv : .native
        case .other: return .libyuv
        }
    }

    private static func period(_ from: Int, _ to: Int) -> Int {
        var (divisor, rest) = (from, to)
        while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
        return to / divisor
    }

    /// The maximum memory in bytes of a frame's scalers: see `FrameScaler.memoryBytes`.
    func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        switch self {
        case .always(let scaler): scaler.memoryBytes(from: from, to: to)
        case .auto: [FrameScaler.native, .libyuv].reduce(0) { max($0, $1.memoryBytes(from: from, to: to)) }
        }
    }
}
