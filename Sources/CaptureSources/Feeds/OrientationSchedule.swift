package import MediaCore

/// The orientation tags of a client's frames over time.
package enum OrientationSchedule: Equatable, Sendable {
    /// Frames without a tag.
    case none
    case fixed(OrientationTag)
    /// Each tag in turn for `period`, repeated.
    case cycle([OrientationTag], period: MediaTime)

    /// The four orientations of a device, in the order of rotation.
    package static let turns: [OrientationTag] = [.up, .left, .down, .right]
    package static let defaultPeriod = MediaTime.seconds(5)

    /// Parses `none`, a number from 1 to 8, a name such as `right`, `leftMirrored` or `left-mirrored`, `cycle` (the
    /// four turns) or `all` (all eight). `:seconds` may follow `cycle` and `all`.
    package init(_ text: String) throws(InputError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0].lowercased()
        let tags: [OrientationTag]? = name == "cycle" ? Self.turns : name == "all" ? OrientationTag.allCases : nil
        if let tags {
            var period = Self.defaultPeriod
            if parts.count == 2 {
                guard let seconds = Double(parts[1]), seconds >= 0.001, seconds <= 86_400 else {
                    throw InputError("\(parts[1]) is no number of seconds from 0.001 to 86400")
                }
                period = MediaTime(nanoseconds: Int64(seconds * 1e9))
            }
            self = .cycle(tags, period: period)
            return
        }
        if parts.count == 1, name == "none" {
            self = .none
            return
        }
        let plain = name.filter { $0 != "-" }
        let tag = OrientationTag.allCases.first { "\($0)".lowercased() == plain || "\($0.rawValue)" == name }
        guard parts.count == 1, let tag else {
            let names = OrientationTag.allCases.map { "\($0)" }.joined(separator: ", ")
            throw InputError(
                "\(text) is no orientation; give 1 to 8, a name (\(names)), none, cycle[:seconds] or all[:seconds]")
        }
        self = .fixed(tag)
    }

    /// - Parameter time: the time since the first frame.
    package func tag(at time: MediaTime) -> OrientationTag? {
        switch self {
        case .none: nil
        case .fixed(let tag): tag
        case .cycle(let tags, let period): tags[Int(time.nanoseconds / period.nanoseconds % Int64(tags.count))]
        }
    }
}
