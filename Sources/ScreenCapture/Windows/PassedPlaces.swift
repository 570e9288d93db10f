internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places across which a compositing manager may show secret windows, each until a time. Pure.
struct PassedPlaces: Sendable {
    struct Passed: Equatable, Sendable {
        var place: CaptureRectangle
        /// How long the manager needs, and until when it is over at the earliest.
        var time: MediaTime
        var until: MediaTime
        /// A busy manager begins late: its time begins when something is painted in the place.
        var awaitsPaint = false
        /// The window whose way it is; nil for several.
        var walker: UInt32?
        /// What is painted in the first picture may be of before.
        var isNew = true

        var end: MediaTime { awaitsPaint ? until + PassedPlaces.patience : until }
    }

    /// Beyond this number, all places become one. Programs add places, even while no pictures are made.
    static let capacity = 32
    /// How much longer a place is hidden in which nothing is painted.
    static let patience = MediaTime.seconds(4)
    private(set) var all: [Passed] = []

    /// Notes a way for a time. A way of the same window that is not over becomes one with it.
    mutating func note(_ way: WindowModel.Left, for time: MediaTime, now: MediaTime) {
        forget(until: now)
        let new = Passed(
            place: way.place, time: time, until: now + time, awaitsPaint: way.awaitsPaint, walker: way.walker)
        let same = all.firstIndex { $0.place == way.place || $0.walker != nil && $0.walker == way.walker }
        if let same {
            all[same].join(new)
        } else if !way.onlyProlongs {
            all.append(new)
        }
        guard all.count > Self.capacity else { return }
        var joined = new
        for other in all { joined.join(other) }
        all = [joined]
    }

    /// Notes what the server reports as painted since the picture before.
    mutating func painted(_ areas: [CaptureRectangle], now: MediaTime) {
        for index in all.indices where all[index].awaitsPaint {
            let passed = all[index]
            all[index].isNew = false
            guard !passed.isNew, areas.contains(where: { passed.place.intersection($0) != nil }) else { continue }
            all[index].awaitsPaint = false
            all[index].until = max(passed.until, now + passed.time)
        }
    }

    /// Hides the places whose time is not over. Returns when the first of them ends.
    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        forget(until: now)
        var next: MediaTime?
        for passed in all {
            secrets.hide(passed.place)
            next = MediaTime.sooner(next, passed.end)
        }
        return next
    }

    private mutating func forget(until now: MediaTime) { all.removeAll { $0.end <= now } }
}

extension PassedPlaces.Passed {
    /// Covers another one, too.
    fileprivate mutating func join(_ other: Self) {
        place = place.joined(with: other.place)
        (time, until) = (max(time, other.time), max(until, other.until))
        (awaitsPaint, isNew) = (awaitsPaint || other.awaitsPaint, isNew || other.isNew)
        if walker != other.walker { walker = nil }
    }
}
