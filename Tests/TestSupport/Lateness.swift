package import MediaCore

/// How late frames reach a server after a fault: during the backlog, and after it.
package struct Lateness: Equatable, Sendable {
    /// A frame is late if it comes this much later than the quickest of its connection.
    package static let limit = MediaTime.milliseconds(300)
    /// The backlog is over once frames have been timely for this long. A busy machine delays single frames later.
    package static let calm = MediaTime.seconds(1)

    /// From the link's return to the first timely frame; nil for none.
    package private(set) var recovery: MediaTime?
    /// From the first frame after the link's return to the last late frame before the calm.
    package private(set) var backlog = MediaTime.zero
    /// Frames after the calm began.
    package private(set) var laterFrames = 0
    package private(set) var laterLateFrames = 0
    /// The longest time, after the calm began, in which all frames that came were late.
    package private(set) var laterLateness = MediaTime.zero

    /// - Parameters:
    ///   - segments: one segment for each connection.
    ///   - linkBack: when the fault ended.
    ///   - ended: when the client ended.
    package init(_ segments: [ArrivalLog.Segment], linkBack: MediaTime, ended: MediaTime) {
        var frames: [(time: MediaTime, isLate: Bool)] = []
        for segment in segments {
            let normal = segment.video.map { $0.time - $0.timestamp }.min() ?? .zero
            for frame in segment.video where frame.time >= linkBack && frame.time < ended {
                frames.append((frame.time, frame.time - frame.timestamp - normal > Self.limit))
            }
        }
        frames.sort { $0.time < $1.time }
        var (timelySince, lateSince, isCalm): (MediaTime?, MediaTime?, Bool) = (nil, nil, false)
        for frame in frames {
            if isCalm { laterFrames += 1 }
            guard frame.isLate else {
                recovery = recovery ?? frame.time - linkBack
                (timelySince, lateSince) = (timelySince ?? frame.time, nil)
                isCalm = isCalm || timelySince.map { frame.time - $0 >= Self.calm } ?? false
                continue
            }
            (timelySince, lateSince) = (nil, lateSince ?? frame.time)
            if isCalm {
                laterLateFrames += 1
                laterLateness = max(laterLateness, frame.time - (lateSince ?? frame.time))
            } else {
                backlog = frame.time - frames[0].time
            }
        }
    }
}
