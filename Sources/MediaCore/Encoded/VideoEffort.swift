/// The processor time that an encoder spends on a frame's quality. The values are measured points on the frontier of
/// bits against time (docs/performance.md), from the cheapest to the best.
package enum VideoEffort: String, CaseIterable, Comparable, Sendable {
    case low, normal, high

    package static func < (a: VideoEffort, b: VideoEffort) -> Bool { a.rank < b.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
