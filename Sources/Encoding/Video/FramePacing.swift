internal import MediaCore

/// Makes an encoder that counts frames distribute bits by time.
///
/// x264 with `force-cfr` ignores frame durations: it budgets each frame at the nominal rate. At half the frame rate it
/// therefore spends half the bitrate, and in a burst too much. This type computes the duration that the encoder should
/// assume for each frame. If its bitrate is scaled by this duration over the nominal one, both its budget and its VBV
/// are right. The assumed durations add up to the time that has passed.
struct FramePacing {
    private let nominal: Int64
    private let longest: Int64
    /// The duration that the encoder currently assumes, in nanoseconds.
    private(set) var believed: Int64
    private var owed: Int64 = 0
    private var last: MediaTime?

    /// A change of at most one part in this many stays `owed`, because each change reconfigures the encoder.
    private static let sensitivity: Int64 = 10

    /// - Parameter vbv: the duration of the encoder's buffer; a frame's share stays below half of it.
    init(frameDuration: MediaTime, vbv: MediaTime) {
        nominal = frameDuration.nanoseconds
        longest = max(nominal, vbv.nanoseconds / 2)
        believed = nominal
    }

    /// Advances to a frame's time.
    ///
    /// - Returns: whether `believed` changed.
    mutating func advance(to time: MediaTime) -> Bool {
        defer { last = time }
        guard let last else { return false }
        owed += min(max(0, (time - last).nanoseconds), longest)
        let difference = (owed - believed).magnitude
        if difference <= UInt64(believed / Self.sensitivity) {
            owed -= believed
            return false
        }
        believed = min(max(owed, nominal / 8), longest)
        owed -= believed
        return true
    }

    /// `rate` scaled for the encoder, at most what x264 can represent in 32 bits.
    func scaled(_ rate: Int) -> Int { min(Int(Int64(rate) * believed / nominal), 2_000_000_000) }
}
