internal import MediaCore
internal import UpcastClient

/// Decides which parts of each picture to hide. Follows the windows of a display in the order of its events.
/// One thread.
struct WindowWatch {
    private let display: X11Connection
    private var model: WindowModel { didSet { leftBehind = nil } }
    private var lingering = LingeringSecrets()
    /// What to hide in the picture that was judged last.
    private(set) var secrets = WindowSecrets()
    private var erasing = EraseSchedule()
    /// The cached value of `model.leftBehind`; nil after a change of the model.
    private var leftBehind: [CaptureRectangle]?
    /// Whether an application has to be in front.
    private let hasFront: Bool
    private var frontWatch = FrontWatch()
    /// Whether the window manager had named the active window before the last call of `isInFront`.
    private(set) var isFrontKnown = false
    /// When a picture may hide less than the last one; nil for never.
    private var nextEnd: MediaTime?
    private var unknownWait = UnknownWait()
    private var choice = ChoiceWatch()
    private var marks = MarkWatch()
    /// When the current repaint request to the compositing manager ends; nil without one.
    private var repaintEnd: MediaTime?
    /// Long enough for a manager that paints once per refresh of the monitor.
    private static let repaintTime = MediaTime.milliseconds(100)

    init(_ rules: WindowRules, front: WindowRules?, _ display: X11Connection) {
        (self.display, hasFront) = (display, front != nil)
        model = WindowModel(
            rules, bounds: CaptureRectangle(x: 0, y: 0, width: display.width, height: display.height),
            resourceMask: display.resourceMask, own: display.ownClient, showsScreen: true, front: front)
    }

    /// Begins to follow the existing windows, and all that come later.
    mutating func begin() throws { model.add(try display.watchWindows()) }

    /// Takes over the display's new size.
    mutating func resize(now: MediaTime) {
        let size = CaptureRectangle(x: 0, y: 0, width: display.width, height: display.height)
        model.resize(to: size, showsSecrets: !secrets.isEmpty || !lingering.isEmpty)
        lingering.resize(to: size)
        keepLeft(now: now)
    }

    mutating func take(_ event: WindowEvent, now: MediaTime) {
        let wasOnTop = hasFront && event.kind == .restacked && model.isOnTop(event.window)
        model.apply(event)
        keepLeft(now: now)
        erasing.windowsChanged(now: now)
        guard hasFront, !model.isOwn(event.window) else { return }
        switch event.kind {
        case .mapped, .moved: if !model.isOfFront(event.window) { frontWatch.othersMoved(now: now) }
        case .restacked:
            // A window that keeps itself above the reference marks does not move above windows of others.
            let hasMoved = model.knows(event.window) && !(wasOnTop && model.isOnTop(event.window))
            if hasMoved, !model.isOfFront(event.window) { frontWatch.othersMoved(now: now) }
        case .came, .went, .unmapped, .movedInside, .unmappedInside, .changed, .renamed, .cameInside, .rearranged,
            .stateChanged, .iconMoved:
            break
        }
    }

    /// Keeps the places that windows have left. A compositing manager shows windows late, even at places that they had
    /// only between two pictures.
    private mutating func keepLeft(now: MediaTime) {
        for left in model.takeLeft() {
            switch left {
            case .place(let place, let window):
                let isGone = window.map { !model.isViewable($0) } ?? true
                lingering.left(place, by: window, isGone: isGone, now: now)
            case .path(let path): lingering.animates(along: path, now: now)
            case .harmless(let window): lingering.forgetGuesses(of: window)
            case .unread(let window): lingering.keepGuesses(of: window)
            }
        }
    }

    /// Whether a secret window is on the screen, as far as is known.
    var showsSecret: Bool { model.showsSecret }

    /// Whether to ask after each picture if the manager shows windows to choose from: it may show secret ones anywhere.
    var mustAskManager: Bool { choice.mustAsk(isOfMutter: model.isOfMutter, hasSecure: !model.secure.isEmpty) }

    /// Notes whether the manager shows windows to choose from, at a moment after the picture that is judged next.
    ///
    /// - Parameters:
    ///   - hasFocus: whether it has the keyboard. Then it is not asked.
    ///   - showsOverview: nil if it cannot be asked.
    mutating func note(hasFocus: Bool, showsOverview: Bool?, now: MediaTime) {
        choice.note(hasFocus: hasFocus, showsOverview: showsOverview)
        tellChoice(now: now)
    }

    private mutating func tellChoice(now: MediaTime) {
        guard choice.showsChoice != model.showsChoice else { return }
        model.note(showsChoice: choice.showsChoice)
        keepLeft(now: now)
    }

    /// The manager has taken the keyboard, or given it back.
    mutating func managerFocusChanged(now: MediaTime) {
        model.passEverywhere()
        keepLeft(now: now)
    }

    /// Whether the window manager may show secret windows in an overview, without telling when.
    var hasOverviewGap: Bool {
        choice.cannotAsk && model.isOfMutter && (!model.rules.isEmpty || model.showsSecret)
    }

    /// Whether everything has been hidden for a while because reference marks are missing.
    func hidesForMarks(now: MediaTime) -> Bool { marks.isMissing(now: now) }

    /// Whether the window manager composites. A manager that has ended is still known until the next reading.
    private var hasPainter: Bool { model.isComposited && model.painter != nil }

    /// Shows reference marks where they are needed, above all windows, and nowhere else.
    ///
    /// - Parameter area: what is captured; nil for nothing.
    mutating func keepMarks(in area: CaptureRectangle?, now: MediaTime) {
        let mayHide = !model.rules.isEmpty || !model.secure.isEmpty || !secrets.isEmpty
        let action = marks.action(
            in: hasPainter ? area : nil, isNeeded: mayHide, isDisplaced: { model.isDisplaced($0) }, now: now)
        switch action {
        case .show(let places): marks.shown(by: display.showMarks(at: places), at: places)
        case .replace(let places):
            display.hideMarks()
            marks.shown(by: display.showMarks(at: places), at: places)
        case .hide: display.hideMarks()
        case nil: break
        }
    }

    /// Whether something has to be read before the next picture.
    var hasUnread: Bool { model.hasUnread }
    var unread: WindowRequest { model.unread }

    /// Notes a reading of the unread windows and X clients.
    mutating func note(_ reading: WindowReading, now: MediaTime) {
        lingering.answered(in: display.takeSlowestAnswer())
        model.note(reading)
        note(isComposited: reading.compositor != nil)
        keepLeft(now: now)
    }

    /// A compositing manager has come or gone.
    mutating func composited(_ isComposited: Bool, now: MediaTime) {
        model.hasUnreadManagers = true
        note(isComposited: isComposited)
        keepLeft(now: now)
    }

    /// The window manager shows another virtual desktop, or hides all windows or shows them again.
    mutating func desktopChanged() { model.desktopChanged() }

    private mutating func note(isComposited: Bool) {
        let hasEnded = model.isComposited && !isComposited
        model.isComposited = isComposited
        guard hasEnded else { return }
        // `secrets` may be out of date: between two broadcasts, no picture is judged.
        var hidden = WindowSecrets()
        model.collect(hidesUnknown: true, into: &hidden)
        // What the manager has painted last stays on the screen until programs draw.
        if !secrets.isEmpty || !hidden.isEmpty { model.leaveEverywhere() }
    }

    /// The window manager reports another active window.
    mutating func activeChanged() { frontWatch.activeChanged() }

    /// Whether the required application is in front, so that a judged picture may be sent.
    mutating func isInFront(now: MediaTime) throws -> Bool {
        guard hasFront else { return true }
        let isInFront = frontWatch.isInFront(now: now, isChosen: model.isOfFrontAndViewable)
        isFrontKnown = !frontWatch.mustAsk
        // The window that is active now may not have been active when the picture was made.
        if frontWatch.mustAsk {
            frontWatch.note(active: try display.activeWindow())
            nextEnd = now
        } else if !isInFront {
            nextEnd = MediaTime.sooner(nextEnd, frontWatch.nextEnd(now: now))
        }
        return isInFront
    }

    /// When to call `wake`; nil for never.
    var nextWake: MediaTime? {
        let due = model.isErasing ? nil : erasing.due
        return MediaTime.sooner(MediaTime.sooner(repaintEnd, marks.due), MediaTime.sooner(nextEnd, due))
    }

    /// Does what is due. Returns whether a new picture may show more.
    mutating func wake(now: MediaTime) -> Bool {
        if !model.isErasing, let due = erasing.due, due <= now {
            erase(now: now)
            return true
        }
        if let end = repaintEnd, end <= now {
            repaintEnd = nil
            display.endRepaint()
        }
        guard let end = nextEnd, end <= now else { return false }
        nextEnd = nil
        return true
    }

    /// Asks the compositing manager to repaint an area where needed. Right after a picture: what was painted before the
    /// request would seem to be the answer.
    private mutating func repaint(now: MediaTime) {
        // Without a manager, the request counts, too. Otherwise it would be due in each picture.
        guard repaintEnd == nil, let area = lingering.takeRequest(now: now), model.isComposited else { return }
        repaintEnd = now + Self.repaintTime
        display.askRepaint(area)
        display.redraw(model.shown(in: area))
    }

    /// Paints over the pixels that secure windows have left behind.
    private mutating func erase(now: MediaTime) {
        let places = Array(model.leftBehind.prefix(X11Connection.maxErased))
        erasing.note(leavesAny: false, now: now)
        guard !places.isEmpty else { return }
        model.erase(places, sequence: display.erase(places))
        erasing.erased(now: now)
    }

    /// Finds out what to hide in a picture. Returns false if that is unknown: the picture must not be sent.
    ///
    /// The caller has taken all events before the picture, and no later ones: the picture does not show their effects.
    ///
    /// - Parameters:
    ///   - now: a time before the picture was made.
    ///   - grabbed: a time after it was made. The server may take long.
    ///   - showsMark: whether the picture shows a reference mark at this place.
    mutating func judge(now: MediaTime, grabbed: MediaTime, showsMark: (CaptureRectangle) -> Bool) -> Bool {
        lingering.beginPicture()
        lingering.answered(in: display.takeSlowestAnswer())
        if model.isErasing { model.endPicture() }
        lingering.painted(display.painted, now: grabbed)
        repaint(now: grabbed)
        if unknownWait.waits(isUnknown: model.hasUnknown) { return false }
        let left = leftBehind ?? model.leftBehind
        leftBehind = left
        erasing.note(leavesAny: !left.isEmpty, now: now)
        if !mustAskManager {
            choice.forgetAnswer()
            tellChoice(now: now)
        }
        model.collect(hidesUnknown: true, into: &secrets)
        lingering.extend(&secrets, now: now)
        if secrets.isEmpty || secrets.isEverywhere || !hasPainter {
            marks.skip()
        } else if !marks.believes(isShown: { showsMark($0.place) }, now: now) {
            secrets.hideEverything()
        }
        nextEnd = lingering.nextEnd
        if mustAskManager, choice.asksAgain { nextEnd = MediaTime.sooner(nextEnd, now + ChoiceWatch.pause) }
        return true
    }
}
