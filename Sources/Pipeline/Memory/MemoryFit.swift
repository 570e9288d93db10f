internal import Configuration
internal import Encoding
internal import FrameGeometry

/// The parts that a broadcast gets so that its plan fits under `memory.cap_bytes`. The parts that viewers miss least go
/// first.
struct MemoryFit: Equatable, Sendable {
    /// One picture is shown, one waits, one is filled. With two, the waiting picture is dropped when the next one
    /// begins to arrive.
    var pictures: Int
    /// Only with an effort; a preset is left alone.
    var subpixelMotion: Bool

    /// All choices, the best first.
    static let all = [
        MemoryFit(pictures: 3, subpixelMotion: true), MemoryFit(pictures: 2, subpixelMotion: true),
        MemoryFit(pictures: 3, subpixelMotion: false), MemoryFit(pictures: 2, subpixelMotion: false),
    ]
}

extension Configuration {
    /// The best choice that leaves the governor's reserve free; the smallest if none does.
    var memoryFit: MemoryFit {
        let candidates = video.encoderEffort == nil ? MemoryFit.all.filter(\.subpixelMotion) : MemoryFit.all
        let cap = memory.capBytes
        let room = cap - MemoryGovernor.reserve(of: cap)
        return candidates.first { MemoryPlan(self, costs: memoryCosts($0)).totalBytes <= room }
            ?? candidates[candidates.count - 1]
    }

    /// The `memory.cap_bytes` with which subpixel motion would fit; nil if `fit` has it, or if a preset decides.
    func capWithSubpixelMotion(_ fit: MemoryFit) -> Int? {
        guard video.encoderEffort != nil, !fit.subpixelMotion else { return nil }
        let total = MemoryPlan(self, costs: memoryCosts(MemoryFit(pictures: 2, subpixelMotion: true))).totalBytes
        // The reserve is 1/32 of the cap.
        return total + total / 31 + 1
    }
}
