package import MediaCore

/// Decides when a picture was shown, on the system's monotonic clock. Pure.
///
/// wlr-screencopy leaves the clock of its stamps open. A stamp that lies where one of the monotonic clock has to lie is
/// taken. Otherwise the time is that of its arrival: the request may be much older, because the compositor has waited
/// for a change.
package struct PictureTime: Equatable, Sendable {
    private var last: MediaTime?
    /// How long a compositor may take to copy a picture, and how far it may look ahead.
    private static let past = MediaTime.milliseconds(500)
    private static let ahead = MediaTime.milliseconds(50)

    package init() {}

    /// - Parameters:
    ///   - stamp: the compositor's; nil if there is none.
    ///   - arrival: when it was ready.
    /// - Returns: a time that is later than that of the picture before.
    package mutating func time(stamp: MediaTime?, arrival: MediaTime) -> MediaTime {
        var time = arrival
        if let stamp, stamp >= arrival - Self.past, stamp <= arrival + Self.ahead { time = min(stamp, arrival) }
        if let last { time = max(time, last + .microseconds(1)) }
        last = time
        return time
    }
}
