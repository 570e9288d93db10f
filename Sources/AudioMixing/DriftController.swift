internal import MediaCore

/// Converts the distance between the position of samples and their PTS into a rate correction.
///
/// The distance is smoothed over about a second, which removes PTS jitter. The correction then aims to remove it within
/// four seconds. A microphone that is 1,000 ppm off settles 4 ms from its PTS. The maximum correction, 0.5 %, is
/// inaudible.
struct DriftController: Sendable {
    private static let smoothing = 1.0
    private static let horizon = 4.0
    private static let limit = 5_000.0

    private var deviation = 0.0
    /// Positive values stretch.
    private(set) var partsPerMillion = 0

    /// Takes one measurement.
    ///
    /// - Parameters:
    ///   - seconds: how much later than its PTS the block is placed; negative for earlier.
    ///   - elapsed: seconds since the last measurement.
    mutating func observe(deviation seconds: Double, elapsed: Double) {
        let weight = min(1, max(0, elapsed / (elapsed + Self.smoothing)))
        deviation += (seconds - deviation) * weight
        let wanted = -deviation / Self.horizon * 1e6
        partsPerMillion = Int(min(max(wanted, -Self.limit), Self.limit).rounded())
    }
}
