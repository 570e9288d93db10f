internal import MediaCore
internal import UpcastClient

/// Knows what of each picture has to be hidden: follows the windows of a display in the order of its events.
/// One thread.
struct WindowWatch {
    private let display: X11Connection
    private var model: WindowModel { didSet { leftBehind = nil } }
    private var lingering = LingeringSecrets()
    /// What has to be hidden of the picture that was judged last.
    private(set) var secrets = WindowSecrets()
    private var erasing = EraseSchedule()
    /// Nil after a change.
    private var leftBehind: [CaptureRectangle]?
    /// Whether an application has to be in front.
    private let hasFront: Bool
    private var frontWatch = FrontWatch()
    /// Whether the window manager had named the active window before the last call of `isInFront`.
    private(set) var isFrontKnown = false
    /// When less may be hidden than in the last picture.
    private var nextEnd: MediaTime?
    private var unknownWait = UnknownWait()
    /// Until when the compositing manager is asked to paint; nil while it is not.
    private var repaintEnd: MediaTime?
    /// Long enough for a manager that paints once per picture of the monitor.
    private static let repaintTime = MediaTime.milliseconds(100)

    init(_ rules: WindowRules, front: WindowRules?, _ display: X11Connection) {
        (self.display, hasFront) = (display, front != nil)
        model = WindowModel(
            rules, bounds: CaptureRectangle(x: 0, y: 0, width: display.width, height: display.height),
            resourceMask: display.resourceMask, showsScreen: true, front: front)
    }

    /// Begins to follow the windows that are there and come.
    mutating func begin() throws { model.add(try display.watchWindows()) }

    /// The display has another size.
    mutating func resize() {
        model.bounds = CaptureRectangle(x: 0, y: 0, width: display.width, height: display.height)
        lingering.resize(to: model.bounds)
    }

    mutating func take(_ event: WindowEvent, now: MediaTime) {
        model.apply(event)
        keepLeft(now: now)
        erasing.windowsChanged(now: now)
        guard hasFront else { return }
        switch event.kind {
        case .mapped, .moved: if !model.isOfFront(event.window) { frontWatch.othersMoved(now: now) }
        case .restacked:
            if model.knows(event.window), !model.isOfFront(event.window) { frontWatch.othersMoved(now: now) }
        case .came, .went, .unmapped, .movedInside, .changed, .renamed, .cameInside, .rearranged, .iconMoved: break
        }
    }

    /// A compositing manager shows windows where they were some time ago, also between two pictures.
    private mutating func keepLeft(now: MediaTime) {
        for left in model.takeLeft() {
            if let window = left.window {
                lingering.left(left.place, by: window, isGone: !model.isViewable(window), now: now)
            } else {
                lingering.passes(left.place, now: now)
            }
        }
    }

    /// Whether a secret window is on the screen, as far as that is known.
    var showsSecret: Bool { model.showsSecret }

    /// Whether the window manager may show secret windows at places that it does not tell.
    var managerHidesPlaces: Bool { model.isOfMutter && (!model.rules.isEmpty || model.showsSecret) }

    /// Whether something has to be read before the next picture.
    var hasUnread: Bool { model.hasUnread }
    var unread: WindowRequest { model.unread }

    /// Notes what was read of them.
    mutating func note(_ reading: WindowReading, now: MediaTime) {
        lingering.answered(in: display.takeSlowestAnswer())
        model.note(reading)
        note(isComposited: reading.compositor != nil)
        keepLeft(now: now)
    }

    /// A compositing manager has come or gone.
    mutating func composited(_ isComposited: Bool) {
        model.hasUnreadManagers = true
        note(isComposited: isComposited)
    }

    /// The window manager shows another virtual desktop, or hides all windows or shows them again.
    mutating func desktopChanged() { model.desktopChanged() }

    private mutating func note(isComposited: Bool) {
        let hasEnded = model.isComposited && !isComposited
        model.isComposited = isComposited
        guard hasEnded else { return }
        // Between two broadcasts, no picture is judged.
        var hidden = WindowSecrets()
        model.collect(hidesUnknown: true, into: &hidden)
        // What it has painted last stays on the screen until programs draw.
        if !secrets.isEmpty || !hidden.isEmpty { model.leaveEverywhere() }
    }

    /// The window manager says that another window is active.
    mutating func activeChanged() { frontWatch.activeChanged() }

    /// Whether the application that has to be in front is: then a judged picture may be sent.
    mutating func isInFront(now: MediaTime) throws -> Bool {
        guard hasFront else { return true }
        let isInFront = frontWatch.isInFront(now: now, isChosen: model.isOfFrontAndViewable)
        isFrontKnown = !frontWatch.mustAsk
        // What it is now is not what it was when the picture was made.
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
        return MediaTime.sooner(repaintEnd, MediaTime.sooner(nextEnd, due))
    }

    /// Does what is due. Returns whether another picture may show more.
    mutating func wake(now: MediaTime) -> Bool {
        if !model.isErasing, let due = erasing.due, due <= now {
            erase(now: now)
            return true
        }
        repaint(now: now)
        guard let end = nextEnd, end <= now else { return false }
        nextEnd = nil
        return true
    }

    /// Has the compositing manager paint places of which nothing says that it has painted them.
    private mutating func repaint(now: MediaTime) {
        if let end = repaintEnd, end <= now {
            repaintEnd = nil
            display.endRepaint()
        }
        guard repaintEnd == nil, let area = lingering.takeRequest(now: now), model.isComposited else { return }
        repaintEnd = now + Self.repaintTime
        display.askRepaint(area)
    }

    /// Paints over what secure windows have left.
    private mutating func erase(now: MediaTime) {
        let places = Array(model.leftBehind.prefix(X11Connection.maxErased))
        erasing.note(leavesAny: false, now: now)
        guard !places.isEmpty else { return }
        model.erase(places, sequence: display.erase(places))
        erasing.erased(now: now)
    }

    /// Finds what of a picture has to be hidden. False if nobody knows: it must not be sent.
    ///
    /// All events before the picture have been taken, and no others: what came later is not in it.
    mutating func judge(now: MediaTime) -> Bool {
        lingering.beginPicture()
        lingering.answered(in: display.takeSlowestAnswer())
        if model.isErasing { model.endPicture() }
        lingering.painted(display.damaged)
        if unknownWait.waits(isUnknown: model.hasUnknown) { return false }
        let left = leftBehind ?? model.leftBehind
        leftBehind = left
        erasing.note(leavesAny: !left.isEmpty, now: now)
        model.collect(hidesUnknown: true, into: &secrets)
        lingering.extend(&secrets, now: now)
        nextEnd = lingering.nextEnd
        return true
    }
}
