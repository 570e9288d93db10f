internal import Configuration
internal import Encoding
internal import FrameGeometry

/// What a broadcast is given so that its plan fits under `memory.cap_bytes`. What viewers miss least is left out first.
struct MemoryFit: Equatable, Sendable {
    /// One picture that is shown, one that waits, one that is filled. With two, one that waits is given up when the
    /// next begins to come.
    var pictures: Int
    /// Where an effort decides; a preset is not touched.
    var subpixelMotion: Bool

    /// From the best down.
    static let all = [
        MemoryFit(pictures: 3, subpixelMotion: true), MemoryFit(pictures: 2, subpixelMotion: true),
        MemoryFit(pictures: 3, subpixelMotion: false), MemoryFit(pictures: 2, subpixelMotion: false),
    ]
}

extension Configuration {
    /// The best of which nothing has to be given up at once: what the governor keeps free stays free. The smallest
    /// where nothing fits so.
    var memoryFit: MemoryFit {
        let candidates = video.encoderEffort == nil ? MemoryFit.all.filter(\.subpixelMotion) : MemoryFit.all
        let cap = memory.capBytes
        let room = cap - MemoryGovernor.reserve(of: cap)
        return candidates.first { MemoryPlan(self, costs: memoryCosts($0)).totalBytes <= room }
            ?? candidates[candidates.count - 1]
    }

    /// The `memory.cap_bytes` that the best picture would take, where it does not fit.
    func capWithSubpixelMotion(_ fit: MemoryFit) -> Int? {
        guard video.encoderEffort != nil, !fit.subpixelMotion else { return nil }
        let total = MemoryPlan(self, costs: memoryCosts(MemoryFit(pictures: 2, subpixelMotion: true))).totalBytes
        // The reserve is a thirty-second of it.
        return total + total / 31 + 1
    }
}
