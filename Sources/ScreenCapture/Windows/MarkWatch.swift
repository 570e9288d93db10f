internal import MediaCore
internal import UpcastClient

/// Decides when to show reference marks, and whether a picture shows windows where they are. Pure.
struct MarkWatch: Sendable {
    struct Mark: Equatable, Sendable {
        var window: UInt32
        /// In pixels of the root window.
        var place: CaptureRectangle
    }

    enum Action: Equatable {
        /// Shows the marks above all windows in these places.
        case show([CaptureRectangle])
        /// Shows new marks in place of those that were shown.
        case restore([CaptureRectangle])
        case hide
    }

    /// The marks that are shown, as far as this program knows.
    private(set) var marks: [Mark] = []
    private var area: CaptureRectangle?
    private var neededUntil = MediaTime.zero
    /// When to call `action` because a mark is displaced or missing; nil if none is.
    private(set) var due: MediaTime?
    /// When displaced marks may be shown again, and how long it takes the next time.
    private var earliest = MediaTime.zero
    private var pause = firstPause
    /// When new marks are shown in place of missing ones; nil while none is missing.
    private var restoration: MediaTime?
    private var delay = firstDelay
    /// Since when no picture has shown all marks; nil if the last one has.
    private var missingSince: MediaTime?

    /// The pause before displaced marks are shown again. Twice as long each time, at most `longestDelay`: another
    /// program, such as a screen locker, may also keep its window above all others.
    static let firstPause = MediaTime.milliseconds(100)
    /// How long pictures may lack a mark before new marks are shown: xfwm4 after its start, and mutter with a new menu,
    /// may paint other windows over a mark that is above them. Twice as long each time: the desktop may be zoomed.
    static let firstDelay = MediaTime.milliseconds(250)
    static let longestDelay = MediaTime.seconds(2)
    /// How long marks stay when they are no longer needed.
    static let rest = MediaTime.seconds(10)
    /// How long the screen is hidden before the user is told why.
    static let patience = MediaTime.seconds(2)

    /// What to do about the marks; nil for nothing.
    ///
    /// - Parameters:
    ///   - area: what is captured, in pixels of the root window; nil for nothing.
    ///   - isNeeded: whether the manager may show windows elsewhere, and something may have to be hidden.
    ///   - isDisplaced: whether a window lies above a mark, or the mark is not where it was shown.
    mutating func action(
        in area: CaptureRectangle?, isNeeded: Bool, isDisplaced: (Mark) -> Bool, now: MediaTime
    ) -> Action? {
        if isNeeded { neededUntil = now + Self.rest }
        guard let area, now < neededUntil else {
            guard self.area != nil else { return nil }
            self = MarkWatch()
            return .hide
        }
        let isNew = area != self.area
        if !isNew, let restoration, restoration <= now {
            delay = Self.longer(delay)
            (self.restoration, due, earliest) = (now + delay, now + delay, now + pause)
            return .restore(ReferenceMark.places(in: area))
        }
        let isOneDisplaced = marks.contains(where: isDisplaced)
        if isNew || isOneDisplaced && earliest <= now {
            pause = isNew || now - earliest > Self.longestDelay ? Self.firstPause : Self.longer(pause)
            (self.area, due, earliest) = (area, restoration, now + pause)
            return .show(ReferenceMark.places(in: area))
        }
        due = MediaTime.sooner(restoration, isOneDisplaced ? earliest : nil)
        return nil
    }

    private static func longer(_ time: MediaTime) -> MediaTime {
        min(MediaTime(nanoseconds: 2 * time.nanoseconds), longestDelay)
    }

    /// Notes the window of each mark.
    mutating func shown(by windows: [UInt32], at places: [CaptureRectangle]) {
        marks = zip(windows, places).map(Mark.init)
    }

    /// Whether a picture shows windows where they are: it shows all marks.
    mutating func believes(isShown: (Mark) -> Bool, now: MediaTime) -> Bool {
        let isBelieved = !marks.isEmpty && marks.allSatisfy(isShown)
        guard !isBelieved else {
            skip()
            return true
        }
        missingSince = missingSince ?? now
        restoration = restoration ?? now + delay
        return false
    }

    /// It does not matter where a picture shows windows: nothing is hidden, or everything is anyway.
    mutating func skip() { (missingSince, restoration, delay) = (nil, nil, Self.firstDelay) }

    /// Whether marks have been missing for so long that the user should know why everything is hidden.
    func isMissing(now: MediaTime) -> Bool { missingSince.map { now - $0 >= Self.patience } ?? false }
}
