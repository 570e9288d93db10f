internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places across which a compositing manager may show secret windows, each until a time. Pure.
struct PassedPlaces: Sendable {
    struct Way: Equatable, Sendable {
        enum Kind: Equatable {
            /// Windows have passed.
            case passed
            /// The manager is yet to paint windows that pass: one window, or several (nil).
            case passing(UInt32?)
            /// A window gets another place. Managers show no way, but prolong one of the window that is not over.
            case moved(UInt32)
        }

        var place: CaptureRectangle
        var kind: Kind
    }

    struct Passed: Equatable, Sendable {
        var place: CaptureRectangle
        var effect: EffectEnd
        /// A busy manager begins late: its time begins when something is painted in the place.
        var awaitsPaint: Bool
        /// The window whose way it is; nil for several.
        var window: UInt32?
        /// What is painted in the first picture may be of before.
        var isNew = true

        var end: MediaTime { awaitsPaint ? effect.latest : effect.end }
    }

    /// Beyond this number, all places become one. Programs add places, even while no pictures are made.
    static let capacity = 32
    private(set) var all: [Passed] = []

    /// Notes a way for a time. A way of the same window that is not over becomes one with it.
    mutating func note(_ way: Way, for time: MediaTime, now: MediaTime) {
        forget(until: now)
        let new = Passed(
            place: way.place, effect: EffectEnd(time, from: now), awaitsPaint: way.kind != .passed,
            window: way.kind.window)
        // The window may also be one of several in the same place.
        var isKnown = false
        for index in all.indices where all[index].window.map({ $0 == new.window }) ?? (all[index].place == new.place) {
            all[index].join(new)
            isKnown = isKnown || all[index].window == new.window
        }
        if !way.kind.isMove, !isKnown { all.append(new) }
        guard all.count > Self.capacity else { return }
        var joined = new
        for other in all { joined.join(other) }
        all = [joined]
    }

    /// Notes what the server reports as painted since the picture before.
    mutating func painted(_ areas: [CaptureRectangle], now: MediaTime) {
        for index in all.indices {
            let passed = all[index]
            all[index].isNew = false
            guard !passed.isNew, areas.contains(where: { passed.place.intersection($0) != nil }) else { continue }
            all[index].effect.painted(now: now)
            guard passed.awaitsPaint else { continue }
            all[index].awaitsPaint = false
            all[index].effect.restart(now: now)
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

extension PassedPlaces.Way.Kind {
    fileprivate var window: UInt32? {
        switch self {
        case .passed: nil
        case .passing(let window): window
        case .moved(let window): window
        }
    }

    fileprivate var isMove: Bool { if case .moved = self { true } else { false } }
}

extension PassedPlaces.Passed {
    /// Covers another one, too.
    fileprivate mutating func join(_ other: Self) {
        place = place.joined(with: other.place)
        effect.join(other.effect)
        (awaitsPaint, isNew) = (awaitsPaint || other.awaitsPaint, isNew || other.isNew)
        if window != other.window { window = nil }
    }
}
