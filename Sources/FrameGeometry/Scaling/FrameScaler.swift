internal import CPlanes

/// The implementation that scales and turns the planes of a frame.
package enum FrameScaler: String, CaseIterable, Sendable {
    /// Our own bicubic kernels, with AVX2 if the processor has it.
    case native
    /// Our own kernels without AVX2, as `native` is on other processors. For tests and measurements.
    case portable
    /// libyuv's kernels, which have code for SSSE3, AVX2 and NEON. They average areas, and enlarge linearly.
    case libyuv

    /// Three scalers, one for each component, that share one workspace.
    func makeScalers() -> (any PlaneScaler, any PlaneScaler, any PlaneScaler) {
        if self == .libyuv {
            let workspace = TileWorkspace()
            func scaler() -> any PlaneScaler { YUVPlaneScaler(workspace: workspace) }
            return (scaler(), scaler(), scaler())
        }
        let usesAVX2 = self == .native && upcast_has_avx2() != 0
        let workspace = StripWorkspace()
        func scaler() -> any PlaneScaler { NativePlaneScaler(workspace: workspace, usesAVX2: usesAVX2) }
        return (scaler(), scaler(), scaler())
    }

    /// The maximum memory in bytes of a frame's scalers for planes of these sizes, whichever way they are turned.
    ///
    /// - Parameters:
    ///   - from: the largest component's size; the other components are not larger.
    ///   - to: luma's size in the picture; chroma has half of it.
    func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        let sizes = [1, 2, 2].map { PlaneSize(width: to.width / $0, height: to.height / $0) }
        switch self {
        case .native, .portable:
            return StripWorkspace.memoryBytes(from: from, to: to)
                + sizes.reduce(0) { $0 + NativePlaneScaler.memoryBytes(from: from, to: $1) }
        case .libyuv:
            let counts = sizes.map { YUVPlaneScaler.greatestCount(from: from, to: $0) }
            return TileWorkspace.memoryBytes(greatestCount: counts.max()!)
                + sizes.reduce(0) { $0 + YUVPlaneScaler.memoryBytes(from: from, to: $1) }
        }
    }
}
