internal import MediaCore

/// Converts the distance between the position of samples and their PTS into a rate correction.
///
/// The distance is smoothed over about a second, which takes PTS jitter out, and is then to be worked off in four: a
/// microphone that is 1,000 ppm off settles 4 ms from its PTS, and a wave of 0.5 %, the most there is, is not heard.
struct DriftController: Sendable {
    private static let smoothing = 1.0
    private static let horizon = 4.0
    private static let limit = 5_000.0

    private var deviation = 0.0
    /// Positive stretches.
    private(set) var partsPerMillion = 0

    /// Takes one measurement.
    ///
    /// - Parameters:
    ///   - seconds: how much later than its PTS the block comes to lie; negative for earlier.
    ///   - elapsed: seconds since the measurement before.
    mutating func observe(deviation seconds: Double, elapsed: Double) {
        let weight = min(1, max(0, elapsed / (elapsed + Self.smoothing)))
        deviation += (seconds - deviation) * weight
        let wanted = -deviation / Self.horizon * 1e6
        partsPerMillion = Int(min(max(wanted, -Self.limit), Self.limit).rounded())
    }
}
