internal import MediaCore

/// Makes an encoder that counts frames spend bits by time.
///
/// x264 without a frame of delay knows no frame durations: it budgets every frame as if frames came at the nominal
/// rate, so half as many frames get half the bitrate, and a burst gets too much. This tells, frame by frame, which
/// duration the encoder is to believe; scaling its bitrate by duration over nominal duration makes both its budget and
/// its VBV right. What is told adds up to what has passed.
struct FramePacing {
    private let nominal: Int64
    private let longest: Int64
    /// The duration that the encoder believes now, in nanoseconds.
    private(set) var believed: Int64
    private var owed: Int64 = 0
    private var last: MediaTime?

    /// A change below one part in this many is not told, but kept as owed: telling costs a reconfiguration.
    private static let sensitivity: Int64 = 10

    /// - Parameter vbv: the span of the encoder's buffer; a frame's share of it stays below half.
    init(frameDuration: MediaTime, vbv: MediaTime) {
        nominal = frameDuration.nanoseconds
        longest = max(nominal, vbv.nanoseconds / 2)
        believed = nominal
    }

    /// Takes a frame's time.
    ///
    /// - Returns: true when `believed` changed.
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

    /// `rate` as the encoder must be told it; at most what x264 can write in 32 bits.
    func scaled(_ rate: Int) -> Int { min(Int(Int64(rate) * believed / nominal), 2_000_000_000) }
}
