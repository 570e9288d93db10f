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
    /// The best that fits; the smallest where nothing does.
    var memoryFit: MemoryFit {
        let candidates = video.encoderEffort == nil ? MemoryFit.all.filter(\.subpixelMotion) : MemoryFit.all
        return candidates.first { MemoryPlan(self, costs: memoryCosts($0)).fits } ?? candidates[candidates.count - 1]
    }

    /// What the best picture would take, in bytes, where it does not fit.
    func bytesWithSubpixelMotion(_ fit: MemoryFit) -> Int? {
        guard video.encoderEffort != nil, !fit.subpixelMotion else { return nil }
        return MemoryPlan(self, costs: memoryCosts(MemoryFit(pictures: 2, subpixelMotion: true))).totalBytes
    }
}
