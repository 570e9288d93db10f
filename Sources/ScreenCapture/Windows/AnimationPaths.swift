internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// Areas in which a compositing manager animates secret windows, from one place to another. Pure.
///
/// An area stays hidden until the animation seems to be over, the manager has repainted the area when asked, and
/// nothing more is painted there. If that does not happen, it stays hidden for a limited time.
struct AnimationPaths: Sendable {
    struct Path: Equatable, Sendable {
        enum Kind: Equatable {
            /// The manager has already begun.
            case passed
            /// The manager is yet to animate one window, or several (nil).
            case passing(UInt32?)
            /// A window has another place. Managers do not animate that, but extend an animation of the window that is
            /// not over.
            case moved(UInt32)
        }

        /// All of the area, in pixels of the root window.
        var place: CaptureRectangle
        var kind: Kind
        /// The window was never read, and may be harmless.
        var isGuess = false
    }

    /// A path that is hidden.
    struct Tracked: LingeringPlace, Equatable, Sendable {
        var place: CaptureRectangle
        var effect: EffectEnd
        /// A busy manager begins late, so the time of the effect begins when something is painted in the place.
        var awaitsPaint: Bool
        /// The window that is animated; nil for several.
        var window: UInt32?
        /// As in `Path`; all paths that were joined to this one are guesses.
        var isGuess: Bool
        /// No picture was made yet. The first one reports what was painted before, too, so it does not count.
        var isNew = true
        /// When the manager was first asked to repaint the place, because the effect seems to be over. Nil if it was
        /// not asked, or has painted too late since. Whether an answer is in time depends on this first request, even
        /// if there were more.
        var askedAt: MediaTime?
        /// When it was asked last.
        var repeatedAt: MediaTime?
        /// What it has not painted since then.
        var unpainted: [CaptureRectangle] = []
        /// It has repainted the whole place in time, so it does not hang. If it is still in the middle of the effect,
        /// it goes on painting.
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
    private(set) var all: [Tracked] = []

    /// Adds a path for some time. It is joined to those of the same window that are not over.
    mutating func note(_ path: Path, for time: MediaTime, now: MediaTime) {
        // Whether others are over is known only after the next picture: it tells what was painted.
        all.removeAll { $0.effect.latest <= now }
        let new = Tracked(
            place: path.place, effect: EffectEnd(time, from: now), awaitsPaint: path.kind != .passed,
            window: path.kind.window, isGuess: path.isGuess)
        // The window may also be one of several in the same place.
        var isKnown = false
        for index in all.indices where all[index].window.map({ $0 == new.window }) ?? (all[index].place == new.place) {
            all[index].join(new)
            isKnown = isKnown || all[index].window == new.window
        }
        if !path.kind.isMove, !isKnown { all.append(new) }
        guard all.count > Self.capacity else { return }
        var joined = new
        for other in all { joined.join(other) }
        all = [joined]
    }

    /// Forgets the paths of a window that turns out to be harmless when it is read for the first time.
    mutating func forgetGuesses(of window: UInt32) { all.removeAll { $0.isGuess && $0.window == window } }

    /// Keeps the paths of a window that has gone before it was read. Another window may get its number.
    mutating func keepGuesses(of window: UInt32) {
        for index in all.indices where all[index].window == window { all[index].isGuess = false }
    }

    mutating func resize(to bounds: CaptureRectangle) { all.resize(to: bounds) }

    mutating func painted(_ painted: PaintedAreas, now: MediaTime) { all.paint(painted, now: now) }

    mutating func takeRequest(now: MediaTime) -> CaptureRectangle? { all.takeRequest(now: now) }

    mutating func hide(in secrets: inout WindowSecrets, now: MediaTime) -> MediaTime? {
        all.hide(in: &secrets, now: now)
    }
}

extension AnimationPaths.Path.Kind {
    fileprivate var window: UInt32? {
        switch self {
        case .passed: nil
        case .passing(let window): window
        case .moved(let window): window
        }
    }

    fileprivate var isMove: Bool { if case .moved = self { true } else { false } }
}

extension AnimationPaths.Tracked {
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
