internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Places across which a compositing manager may show secret windows. Each ends when its effect seems to be over, the
/// manager paints it when asked, and nothing more is painted there; or after some time. Pure.
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
        /// The window has never been read, and may be harmless.
        var isGuess = false
    }

    struct Passed: LingeringPlace, Equatable, Sendable {
        var place: CaptureRectangle
        var effect: EffectEnd
        /// A busy manager begins late: its time begins when something is painted in the place.
        var awaitsPaint: Bool
        /// The window whose way it is; nil for several.
        var window: UInt32?
        /// As in `Way`; all ways that became this one are guesses.
        var isGuess: Bool
        /// What is painted in the first picture may be of before.
        var isNew = true
        /// When the manager was first asked to paint the place, because the effect seems to be over; nil if it was not
        /// asked, or has painted late since. Its answer is late or prompt from this time on, even if it is asked again.
        var askedAt: MediaTime?
        /// When it was asked last.
        var repeatedAt: MediaTime?
        /// What it has not painted since then.
        var unpainted: [CaptureRectangle] = []
        /// It has painted the whole place promptly, so it does not hang. If it is still in the middle of the effect, it
        /// paints on.
        var isDone = false

        var end: MediaTime? { isDone ? effect.end : effect.latest }
        var nextRequest: MediaTime? {
            guard !awaitsPaint, !isDone else { return nil }
            return repeatedAt.map { $0 + LeftPlaces.requestPause } ?? effect.end
        }

        mutating func paint(_ painted: PaintedAreas, now: MediaTime) {
            defer { isNew = false }
            guard !isNew, painted.mayTouch(place) else { return }
            effect.painted(now: now)
            if isDone { return }
            if let askedAt, now - askedAt <= effect.pause {
                unpainted = painted.missing(of: unpainted)
                isDone = unpainted.isEmpty
                return
            }
            // A manager that was late may have hung in the middle, and goes on now.
            (askedAt, repeatedAt) = (nil, nil)
            if awaitsPaint { effect.restart(now: now) }
            awaitsPaint = false
        }

        mutating func noteAsked(now: MediaTime) {
            (askedAt, repeatedAt, unpainted) = (askedAt ?? now, now, [place])
        }
    }

    /// Beyond this number, all places become one. Programs add places, even while no pictures are made.
    static let capacity = 32
    private(set) var all: [Passed] = []

    /// Notes a way for a time. A way of the same window that is not over becomes one with it.
    mutating func note(_ way: Way, for time: MediaTime, now: MediaTime) {
        // Whether others are over is known only after the next picture: it tells what was painted.
        all.removeAll { $0.effect.latest <= now }
        let new = Passed(
            place: way.place, effect: EffectEnd(time, from: now), awaitsPaint: way.kind != .passed,
            window: way.kind.window, isGuess: way.isGuess)
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

    /// Forgets the ways of a window that was never read before, and is harmless.
    mutating func forgetGuesses(of window: UInt32) { all.removeAll { $0.isGuess && $0.window == window } }

    /// Keeps the ways of a window that has gone before it was read. Another window may get its number.
    mutating func keepGuesses(of window: UInt32) {
        for index in all.indices where all[index].window == window { all[index].isGuess = false }
    }

    mutating func resize(to bounds: CaptureRectangle) { all.resize(to: bounds) }

    mutating func painted(_ painted: PaintedAreas, now: MediaTime) { all.paint(painted, now: now) }

    mutating func takeRequest(now: MediaTime) -> CaptureRectangle? { all.takeRequest(now: now) }

    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? { all.hide(in: &secrets, now: now) }
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
        (askedAt, repeatedAt, isDone) = (nil, nil, false)
        isGuess = isGuess && other.isGuess
        (awaitsPaint, isNew) = (awaitsPaint || other.awaitsPaint, isNew || other.isNew)
        if window != other.window { window = nil }
    }
}
