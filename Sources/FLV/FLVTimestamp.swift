package import MediaCore

/// Converts the decode times of one track to the 32-bit milliseconds of FLV and RTMP.
///
/// `next` rises strictly with each call (modulo 2^32, 49.7 days). For two equal timestamps on one RTMP chunk stream
/// librtmp writes a wrong header, and a smaller timestamp becomes a jump of 49 days.
package struct FLVTimestamp: Sendable {
    private var last: Int64 = -1

    package init() {}

    /// The timestamp of the next packet: its own milliseconds, but at least one more than the last.
    package mutating func next(_ time: MediaTime) -> UInt32 {
        last = max(time.milliseconds, last + 1)
        return UInt32(truncatingIfNeeded: last)
    }

    /// Milliseconds modulo 2^32. Times before zero become zero, because they would wrap to 49 days ahead.
    package static func milliseconds(_ time: MediaTime) -> UInt32 {
        UInt32(truncatingIfNeeded: max(0, time.milliseconds))
    }

    /// The composition time for `FLVVideoTag.header`, with which a player shows the picture at `pts` for any timestamp.
    /// In streams with B-frames, the first decode times lie before zero.
    ///
    /// - Parameter timestamp: the packet's timestamp from `next`.
    package static func compositionTime(pts: MediaTime, timestamp: UInt32) -> Int32 {
        max(0, Int32(bitPattern: UInt32(truncatingIfNeeded: pts.milliseconds) &- timestamp))
    }
}
