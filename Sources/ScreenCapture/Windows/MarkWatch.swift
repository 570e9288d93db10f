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
        /// The same with new windows, instead of those that were shown.
        case replace([CaptureRectangle])
        case hide
    }

    /// The marks that are shown, as far as this program knows.
    private(set) var marks: [Mark] = []
    private var neededUntil = MediaTime.zero
    /// When to call `action`, although nothing has changed; nil for never.
    private(set) var due: MediaTime?
    /// When displaced marks may be shown again, and how long it takes the next time.
    private var earliest = MediaTime.zero
    private var pause = firstPause
    /// Set while pictures that need all marks do not show them.
    private var lack: Lack?

    private struct Lack {
        let since: MediaTime
        private var delay = MarkWatch.firstDelay
        /// When new marks are shown.
        private(set) var renewal: MediaTime

        init(since: MediaTime) { (self.since, renewal) = (since, since + delay) }

        /// New marks are shown. It takes longer the next time.
        mutating func renew(now: MediaTime) {
            delay = MarkWatch.longer(delay)
            renewal = now + delay
        }
    }

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
            defer { self = MarkWatch() }
            return marks.isEmpty ? nil : .hide
        }
        let places = ReferenceMark.places(in: area)
        let areElsewhere = !marks.lazy.map(\.place).elementsEqual(places)
        let isOneDisplaced = marks.contains(where: isDisplaced)
        var action: Action?
        if areElsewhere {
            (lack, pause) = (nil, Self.firstPause)
            action = .show(places)
        } else if let renewal = lack?.renewal, renewal <= now {
            lack?.renew(now: now)
            action = .replace(places)
        } else if isOneDisplaced && earliest <= now {
            pause = now - earliest > Self.longestDelay ? Self.firstPause : Self.longer(pause)
            action = .show(places)
        }
        if action != nil { earliest = now + pause }
        let raise = action == nil && isOneDisplaced ? earliest : nil
        due = MediaTime.sooner(MediaTime.sooner(lack?.renewal, raise), isNeeded ? nil : neededUntil)
        return action
    }

    fileprivate static func longer(_ time: MediaTime) -> MediaTime {
        min(MediaTime(nanoseconds: 2 * time.nanoseconds), longestDelay)
    }

    /// Notes the window of each mark.
    mutating func shown(by windows: [UInt32], at places: [CaptureRectangle]) {
        marks = zip(windows, places).map(Mark.init)
    }

    /// Whether a picture shows windows where they are: it shows all marks.
    mutating func believes(isShown: (Mark) -> Bool, now: MediaTime) -> Bool {
        let isBelieved = !marks.isEmpty && marks.allSatisfy(isShown)
        lack = isBelieved ? nil : lack ?? Lack(since: now)
        return isBelieved
    }

    /// It does not matter where a picture shows windows: nothing is hidden, or everything is anyway.
    mutating func skip() { lack = nil }

    /// Whether marks have been missing for so long that the user should know why everything is hidden.
    func isMissing(now: MediaTime) -> Bool { lack.map { now - $0.since >= Self.patience } ?? false }
}
