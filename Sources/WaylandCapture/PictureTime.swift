package import MediaCore

/// Decides when a picture was shown, on the system's monotonic clock. Pure.
///
/// wlr-screencopy does not define the clock of its stamps. A stamp is used if it lies in the plausible range of the
/// monotonic clock. Otherwise, the time of arrival is used. The time of the request would be wrong: it may be much
/// older, because the compositor waits for a change.
package struct PictureTime: Equatable, Sendable {
    private var last: MediaTime?
    /// How long a compositor may take to copy a picture, and how far ahead its stamp may be.
    private static let past = MediaTime.milliseconds(500)
    private static let ahead = MediaTime.milliseconds(50)

    package init() {}

    /// - Parameters:
    ///   - stamp: the compositor's stamp; nil if there is none.
    ///   - arrival: when the picture was ready.
    /// - Returns: a time that is later than that of the picture before.
    package mutating func time(stamp: MediaTime?, arrival: MediaTime) -> MediaTime {
        var time = arrival
        if let stamp, stamp >= arrival - Self.past, stamp <= arrival + Self.ahead { time = min(stamp, arrival) }
        if let last { time = max(time, last + .microseconds(1)) }
        last = time
        return time
    }
}
