package import MediaCore

/// Turns decode times into the 32-bit milliseconds of FLV and RTMP; one value of this type serves one track.
///
/// `next` rises strictly from call to call (modulo 2^32, 49.7 days), because two messages with one timestamp on one
/// RTMP chunk stream make librtmp write a wrong header, and a smaller one becomes a jump of 49 days.
package struct FLVTimestamp: Sendable {
    private var last: Int64 = -1

    package init() {}

    /// The timestamp of the next packet: its own milliseconds, or one more than the last where that is not enough.
    package mutating func next(_ time: MediaTime) -> UInt32 {
        last = max(time.milliseconds, last + 1)
        return UInt32(truncatingIfNeeded: last)
    }

    /// Milliseconds modulo 2^32; times before zero are zero, as a wrapped one would be 49 days ahead.
    package static func milliseconds(_ time: MediaTime) -> UInt32 {
        UInt32(truncatingIfNeeded: max(0, time.milliseconds))
    }

    /// What `FLVVideoTag.header` takes, so that a player shows the picture at `pts` whatever its timestamp has become:
    /// the first decode times of a stream with B-frames lie before zero.
    ///
    /// - Parameter timestamp: the packet's, from `next`.
    package static func compositionTime(pts: MediaTime, timestamp: UInt32) -> Int32 {
        max(0, Int32(bitPattern: UInt32(truncatingIfNeeded: pts.milliseconds) &- timestamp))
    }
}
