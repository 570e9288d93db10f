package import Grabbing
internal import LinuxSystem
package import MediaCore
package import UpcastClient

/// Sends the frames of a screen to the daemon: when it changes, and no faster than the frame rate.
///
/// It tracks which windows are secret and what they have left behind, also between two broadcasts.
package final class ScreenGrabber: @unchecked Sendable /* one thread at a time */ {
    package struct Settings: Sendable {
        package var area: ScreenArea
        package var rate: FrameRate
        package var showsPointer: Bool
        /// The windows to hide, besides those that ask for it.
        package var rules: WindowRules
        /// The application that has to be in front for frames to be sent; nil for none.
        package var front: WindowRules?

        package init(
            area: ScreenArea, rate: FrameRate, showsPointer: Bool, rules: WindowRules = WindowRules(),
            front: WindowRules? = nil
        ) {
            (self.area, self.rate, self.showsPointer, self.rules) = (area, rate, showsPointer, rules)
            self.front = front
        }
    }

    /// What the grabber tells the user.
    package enum Notice: Equatable, Sendable {
        /// The area does not exist now, or cannot be sent; viewers keep the last frame.
        case waiting(String)
        case capturing(CaptureRectangle)
        /// Whether the required application is in front. Nothing is sent until it is.
        case inFront(Bool)
        /// Something that a user may not expect, and what to do about it.
        case hint(String)
    }

    private let settings: Settings
    private let display: X11Connection
    private let showsOverview: () -> Bool?
    private let clock = MonotonicClock()
    private var schedule: GrabSchedule
    private var damage = DamageList()
    private var area: CaptureRectangle?
    private var pointer: PointerLayer
    private var windows: WindowWatch
    private var isInFront: Bool
    /// Windows and the pointer are followed.
    private var isFollowing = false
    /// The root window has another size, or monitors have changed.
    private var hasScreenChanged = false
    /// The area has existed at least once.
    private var hasBegun = false
    /// Why the area does not exist, as the user was told; nil while it exists.
    private var waitsBecause: String?
    /// This broadcast has told whether the application is in front.
    private var isFrontTold = false
    /// The user was warned of the window manager's overview.
    private var isOverviewTold = false
    /// The user was told why everything is hidden.
    private var areMarksTold = false
    private var pausedReading = PausedReading()
    /// Reused for each frame, so that nothing is allocated.
    private var regions = CaptureSecureRegions.none
    private var spare: CaptureFrame?

    /// - Parameter showsOverview: asks GNOME Shell whether its overview is visible; nil if it cannot be asked. Called
    ///   after a picture if the window manager may be GNOME Shell: while a window is secret, and for the first ones.
    ///   The picture waits for it.
    package init(_ settings: Settings, _ display: X11Connection, showsOverview: @escaping () -> Bool?) {
        self.settings = settings
        self.display = display
        self.showsOverview = showsOverview
        schedule = GrabSchedule(settings.rate)
        pointer = PointerLayer(display, isShown: settings.showsPointer, settings.rate)
        windows = WindowWatch(settings.rules, front: settings.front, display)
        isInFront = settings.front == nil
    }

    /// Checks the area before the first broadcast.
    ///
    /// - Throws: what is wrong with it.
    package func check() throws {
        _ = try settings.area.place(width: display.width, height: display.height, monitors: try display.monitors())
    }

    /// Runs until it is told to stop. It may run again, in another broadcast.
    ///
    /// - Parameters:
    ///   - connection: nil to follow the windows between two broadcasts, and to send nothing.
    ///   - control: orders of other threads.
    ///   - sent: called after each frame.
    ///   - notice: called when the area comes, goes or moves.
    /// - Throws: `X11Connection.GrabError.lost`, or `CaptureError` of the daemon.
    package func run(
        _ connection: CaptureConnection?, _ control: GrabControl, sent: () -> Void, notice: (Notice) throws -> Void
    ) throws {
        display.detachUnused()
        defer { spare = nil }
        try begin(notice)
        while true {
            var orders = control.take()
            if orders.isStopped { return }
            if connection == nil { orders.isPaused = true }
            if orders.sendsAgain {
                damage.noteAll()
                schedule.noteChange()
            }
            let hasMore = try display.takeEvents(take)
            try followScreen(notice)
            let now = clock.now()
            if windows.wake(now: now) { schedule.noteChange() }
            windows.keepMarks(in: connection == nil || orders.isPaused ? nil : area, now: now)
            if connection != nil { try warn(now, notice) }
            if let hasMoved = try pointer.look(now: now) {
                if hasMoved { schedule.noteChange() }
                // Events may have come with the answer.
                continue
            }
            if try display.check(now: now) { continue }
            // Windows are followed also while nothing is sent.
            let reading = pausedReading.due(isPaused: orders.isPaused, hasUnread: windows.hasUnread)
            if let reading, reading <= now {
                pausedReading.noteRead(at: try readWindows(now, notice))
                continue
            }
            let due = orders.isPaused ? nil : schedule.due(now: now)
            if let connection, let due, due <= now {
                try grab(now, connection, sent, notice)
            } else if !hasMore {
                var wait = GrabWait(orders: control.descriptor, now: now)
                wait.note(display.descriptor)
                wait.note(display.nextCheck)
                wait.note(due)
                wait.note(orders.isPaused ? nil : pointer.nextLook)
                wait.note(reading)
                wait.note(windows.nextWake)
                wait.wait()
            }
        }
    }

    /// A broadcast begins. It has no picture yet, and must be told what is captured.
    private func begin(_ notice: (Notice) throws -> Void) throws {
        isInFront = settings.front == nil
        isFrontTold = isInFront
        (area, waitsBecause) = (nil, nil)
        damage.noteAll()
        schedule.noteChange()
        try display.refresh()
        try placeArea(notice)
        guard !isFollowing else { return }
        try pointer.begin()
        try windows.begin()
        isFollowing = true
        let rules = [settings.rules, settings.front].compactMap { $0 }
        if let hint = rules.lazy.compactMap(display.hint(about:)).first { try notice(.hint(hint)) }
    }

    private func take(_ event: X11Connection.Event) throws {
        switch event {
        case .damaged: schedule.noteChange()
        case .pointerShapeChanged:
            if pointer.shapeChanged() { schedule.noteChange() }
            if windows.showsSecret { pointer.noteSecrets() }
        case .pointerMoved: pointer.noteMotion()
        case .screenChanged:
            try display.refresh()
            windows.resize(now: clock.now())
            hasScreenChanged = true
        case .window(let event):
            windows.take(event, now: clock.now())
            schedule.noteChange()
        case .activeChanged:
            windows.activeChanged()
            if settings.front != nil { schedule.noteChange() }
        case .overlayFocusChanged: windows.managerFocusChanged(now: clock.now())
        case .composited(let isComposited): windows.composited(isComposited, now: clock.now())
        case .desktopChanged:
            windows.desktopChanged()
            schedule.noteChange()
        }
    }

    /// Reads what is unknown of windows and their programs. Returns the time afterwards.
    private func readWindows(_ now: MediaTime, _ notice: (Notice) throws -> Void) throws -> MediaTime {
        guard windows.hasUnread else { return now }
        let reading = try display.read({ windows.unread }, taking: take)
        let now = clock.now()
        if let reading { windows.note(reading, now: now) }
        if windows.showsSecret { pointer.noteSecrets() }
        // Notices are written after the server grab has ended: a terminal on this screen may have to show them.
        try followScreen(notice)
        return now
    }

    private func warn(_ now: MediaTime, _ notice: (Notice) throws -> Void) throws {
        // While mutter starts, it may not be known as such yet.
        if !isOverviewTold, windows.hasOverviewGap {
            isOverviewTold = true
            try notice(
                .hint(
                    "this desktop may show hidden windows in its overview, and viewers see them there; send one window "
                        + "with --window, or raise the curtain before (upcastctl curtain up)"))
        }
        if !areMarksTold, windows.hidesForMarks(now: now) {
            areMarksTold = true
            try notice(
                .hint(
                    "viewers see nothing of the screen, because hidden windows may be anywhere: the desktop is zoomed, "
                        + "or something covers or dims a mark of upcast-screen in a corner; end the zoom, or move or "
                        + "close what covers or dims the mark"))
        }
    }

    private func followScreen(_ notice: (Notice) throws -> Void) throws {
        guard hasScreenChanged else { return }
        hasScreenChanged = false
        try placeArea(notice)
    }

    /// Finds the area, which may have moved, or may be missing for a while.
    private func placeArea(_ notice: (Notice) throws -> Void) throws {
        let monitors = try display.monitors()
        windows.resize(now: clock.now())
        let place: CaptureRectangle
        do throws(ScreenError) {
            place = try settings.area.place(width: display.width, height: display.height, monitors: monitors)
        } catch {
            guard error.isTemporary, hasBegun else { throw error }
            area = nil
            // A monitor that is removed causes several events.
            guard waitsBecause != error.description else { return }
            waitsBecause = error.description
            return try notice(.waiting(error.description))
        }
        (hasBegun, waitsBecause) = (true, nil)
        guard place != area else { return }
        area = place
        damage.noteAll()
        schedule.noteChange()
        try notice(.capturing(place))
        let hint = settings.area.hint(width: display.width, height: display.height, monitors: monitors)
        if let hint { try notice(.hint(hint)) }
    }

    private func grab(
        _ now: MediaTime, _ connection: CaptureConnection, _ sent: () -> Void, _ notice: (Notice) throws -> Void
    ) throws {
        let now = try readWindows(now, notice)
        schedule.grabbed(at: now)
        // Without DAMAGE, the server reports no changes.
        if !display.hasDamage { schedule.noteChange() }
        guard let area else { return }
        let format = VideoSampleFormat(
            packed: display.format.pixelFormat, width: area.width, height: area.height,
            color: ColorDescription(matrix: .bt709, range: .full))
        guard let frame = try connection.frame(CaptureVideoFormat(layout: format), filledBy: display, reusing: spare)
        else {
            // The daemon is reading all frames that there is room for. The newest picture is sent when one is free.
            return schedule.noteChange()
        }
        // A frame that is not sent gives its memory back when it is released.
        spare = nil
        try pointer.pictureBegins(now: now)
        let moment: X11Connection.Moment
        do {
            moment = try display.grab(area, into: frame, damage: &damage)
        } catch .notThere {
            // The screen is changing; its event follows.
            try display.refresh()
            try placeArea(notice)
            // The server does not report earlier damage again.
            damage.noteAll()
            return schedule.noteChange()
        }
        let grabbed = clock.now()
        // Takes exactly the events that the picture contains.
        while let event = display.nextEvent(before: moment.sequence) { try take(event) }
        try followScreen(notice)
        // Later than the picture: before it paints, the manager takes the keyboard, or begins its overview.
        if windows.mustAskManager {
            let hasFocus = try display.hasOverlayFocus()
            windows.note(hasFocus: hasFocus, showsOverview: hasFocus ? nil : showsOverview(), now: clock.now())
        }
        let isJudged = windows.judge(now: now, grabbed: grabbed, showsMark: { shows($0, frame, area) })
        guard isJudged, self.area == area else { return schedule.retry() }
        windows.secrets.write(into: &regions, in: area)
        let isInFront = try windows.isInFront(now: now)
        if isInFront != self.isInFront || !isFrontTold && windows.isFrontKnown {
            (self.isInFront, isFrontTold) = (isInFront, true)
            try notice(.inFront(isInFront))
            damage.noteAll()
        }
        guard isInFront else { return }
        // The pointer's last place is damage, too.
        if let drawn = pointer.drawn { damage.note(drawn) }
        if !windows.secrets.isEmpty { pointer.noteSecrets() }
        pointer.draw(moment, into: frame, area)
        if let drawn = pointer.drawn { damage.note(drawn) }
        try connection.send(
            frame, at: .nanoseconds(now.nanoseconds), orientation: .up, secure: regions,
            damage: damage.damage)
        if frame.isDone { spare = frame }
        damage.clear()
        sent()
    }

    /// Whether a picture of an area shows a reference mark at a place of the root window.
    private func shows(_ mark: CaptureRectangle, _ frame: CaptureFrame, _ area: CaptureRectangle) -> Bool {
        guard area.contains(mark), case .rgb(let red, let blue) = display.format.pixelFormat.layout else {
            return false
        }
        let place = mark.relative(to: area)
        return unsafe ReferenceMark.isShown(
            x: place.x, y: place.y, in: UnsafeRawBufferPointer(frame.bytes), width: area.width,
            green: (red + blue) / 2)
    }
}
