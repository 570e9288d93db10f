package import Grabbing
internal import LinuxSystem
package import MediaCore
package import UpcastClient

/// Sends the frames of one window, with its dialogs and menus, to the daemon. Other windows are not sent, even where
/// they cover it.
///
/// It tracks which windows are secret, also between two broadcasts.
package final class WindowGrabber: @unchecked Sendable /* one thread at a time */ {
    package struct Settings: Sendable {
        package var choice: WindowChoice
        package var rate: FrameRate
        package var showsPointer: Bool
        /// The windows to hide, besides those that ask for it.
        package var rules: WindowRules

        package init(choice: WindowChoice, rate: FrameRate, showsPointer: Bool, rules: WindowRules) {
            (self.choice, self.rate, self.showsPointer, self.rules) = (choice, rate, showsPointer, rules)
        }
    }

    package enum Notice: Equatable, Sendable {
        /// The window is not on the screen; viewers keep the last frame of this broadcast, if there is one.
        case waiting(String, hasPicture: Bool)
        /// The window's size, and its place on the screen.
        case capturing(CaptureRectangle)
        /// Something that a user may not expect, and what to do about it.
        case hint(String)
    }

    private struct Target: Equatable {
        /// The child of the root window, and the client in it.
        var top: UInt32
        var client: UInt32
        /// The client's place in the root window.
        var place: CaptureRectangle
        /// The frame cuts off a part of the client.
        var isCut: Bool
    }

    private let settings: Settings
    private let display: X11Connection
    private let clock = MonotonicClock()
    private var schedule: GrabSchedule
    private var model: WindowModel
    private var isFollowing = false
    /// The child of the root window, and the client in it, that the choice means. It stays while it is on the screen.
    private var chosen: (top: UInt32, client: UInt32)?
    /// What is captured now; nil while it cannot be seen.
    private var target: Target?
    private var layers: [X11Connection.Layer] = []
    /// The target's popups in the model when the layers were made.
    private var popups: [(top: UInt32, place: CaptureRectangle)] = []
    /// Windows of the layers have changed since then.
    private var isStale = true
    /// Other windows have changed since then.
    private var haveOthersChanged = false
    /// The window that was chosen by its ID was destroyed. A new window may get the ID at once.
    private var hasEnded = false
    private var unknownWait = UnknownWait()
    private var news = WindowNews()
    private var pausedReading = PausedReading()
    /// Since when a window has shown pixels that are not its own.
    private var undrawnSince: MediaTime?
    /// Since when a frame has cut off a part of its client.
    private var cutSince: MediaTime?
    /// How long viewers wait for the window's own pixels, or for all of it.
    private static let patience = MediaTime.milliseconds(500)
    private var pointer: PointerLayer
    /// Reused for each frame, so that nothing is allocated.
    private var spare: CaptureFrame?

    package init(_ settings: Settings, _ display: X11Connection) {
        (self.settings, self.display) = (settings, display)
        schedule = GrabSchedule(settings.rate)
        pointer = PointerLayer(display, isShown: settings.showsPointer, settings.rate)
        model = WindowModel(
            settings.rules, bounds: CaptureRectangle(x: 0, y: 0, width: display.width, height: display.height),
            resourceMask: display.resourceMask)
    }

    /// Checks the window before the first broadcast.
    ///
    /// - Throws: if there is no window with the chosen ID.
    package func check() throws { try requireNumbered() }

    /// Runs until it is told to stop. It may run again, in another broadcast.
    ///
    /// - Parameters:
    ///   - connection: nil to follow the windows between two broadcasts, and to send nothing.
    ///   - control: what other threads tell.
    ///   - notice: called when the window comes, goes, moves or has another size.
    /// - Throws: `X11Connection.GrabError.lost`, `ScreenError`, or `CaptureError` of the daemon.
    package func run(
        _ connection: CaptureConnection?, _ control: GrabControl, notice: (Notice) throws -> Void
    ) throws {
        try requireNumbered()
        display.detachUnused()
        defer { spare = nil }
        if connection != nil { try display.beginComposition() }
        defer { display.endComposition() }
        try follow(notice)
        // A broadcast begins without a picture, and must be told what is captured.
        (isStale, news, undrawnSince, cutSince) = (true, WindowNews(), nil, nil)
        schedule.noteChange()
        while true {
            var orders = control.take()
            if orders.isStopped { return }
            if connection == nil { orders.isPaused = true }
            if hasEnded { throw Self.noWindow(settings.choice) }
            if orders.sendsAgain { schedule.noteChange() }
            let hasMore = try display.takeEvents(take)
            let now = clock.now()
            if let hasMoved = try pointer.look(now: now) {
                if hasMoved { schedule.noteChange() }
                // Events may have come with the answer.
                continue
            }
            if try display.check(now: now) { continue }
            let reading = pausedReading.due(isPaused: orders.isPaused, hasUnread: model.hasUnread)
            if let reading, reading <= now {
                _ = try readWindows()
                pausedReading.noteRead(at: clock.now())
                continue
            }
            let due = orders.isPaused ? nil : schedule.due(now: now)
            if let connection, let due, due <= now {
                try grab(now, connection, notice)
            } else if !hasMore {
                var wait = GrabWait(orders: control.descriptor, now: now)
                wait.note(display.descriptor)
                wait.note(display.nextCheck)
                wait.note(due)
                wait.note(orders.isPaused ? nil : pointer.nextLook)
                wait.note(reading)
                wait.wait()
            }
        }
    }

    /// Begins to follow windows and the pointer.
    private func follow(_ notice: (Notice) throws -> Void) throws {
        guard !isFollowing else { return }
        try pointer.begin()
        model.add(try display.watchWindows())
        isFollowing = true
        let rules = [settings.rules, settings.choice.rules].compactMap { $0 }
        if let hint = rules.lazy.compactMap(display.hint(about:)).first { try notice(.hint(hint)) }
    }

    private func take(_ event: X11Connection.Event) throws {
        switch event {
        case .damaged: schedule.noteChange()
        case .pointerShapeChanged:
            if pointer.shapeChanged() { schedule.noteChange() }
            if model.showsSecret { pointer.noteSecrets() }
        case .pointerMoved: pointer.noteMotion()
        case .window(let event):
            if case .number(let number) = settings.choice, event.destroyed == number { hasEnded = true }
            // A new window may get the ID.
            if let gone = event.destroyed, gone == chosen?.client || gone == chosen?.top {
                (chosen, target) = (nil, nil)
            }
            let top = model.top(of: event.window)
            if event.kind == .movedInside, let top { display.movedInside(top) }
            if layers.contains(where: { $0.top == top ?? event.window }) { isStale = true }
            haveOthersChanged = true
            model.apply(event)
            schedule.noteChange()
        case .screenChanged, .activeChanged, .overlayFocusChanged, .composited, .desktopChanged: break
        }
    }

    // MARK: The window

    /// A window ID is valid only while its window exists: afterwards, another program's window may get it.
    private func requireNumbered() throws {
        guard case .number(let number) = settings.choice else { return }
        if hasEnded { throw Self.noWindow(settings.choice) }
        if try display.place(of: number) == nil { throw Self.noWindow(settings.choice) }
    }

    private static func noWindow(_ choice: WindowChoice) -> ScreenError {
        guard case .number(let number) = choice else { preconditionFailure("a rule also means later windows") }
        return ScreenError(
            "there is no window 0x\(String(number, radix: 16)), or it has ended; --list shows those that are there, "
                + "and a rule such as class=firefox also means later ones")
    }

    /// Reads what is unknown of windows and their programs. False if windows have changed meanwhile.
    private func readWindows() throws -> Bool {
        guard model.hasUnread else { return true }
        guard let reading = try display.read({ model.unread }, taking: take) else { return false }
        model.note(reading)
        if model.showsSecret { pointer.noteSecrets() }
        isStale = true
        return true
    }

    /// Finds the window, its dialogs and its menus. Nil while the window is not on the screen.
    private func find(_ notice: (Notice) throws -> Void) throws -> Target? {
        if !isStale, !haveOthersChanged, !model.hasUnread { return target }
        haveOthersChanged = false
        let isRead = try readWindows()
        let hasUnread = model.hasUnread
        isStale = !isRead || unknownWait.waits(isUnknown: hasUnread)
        // Unread windows are read again for the next picture, as no event may come before it.
        if isStale || hasUnread { schedule.noteChange() }
        guard !isStale else { return nil }
        if hasEnded { throw Self.noWindow(settings.choice) }
        if let old = chosen {
            guard let isThere = model.shows(old.client, in: old.top) else { return nil }
            if !isThere { chosen = nil }
        }
        chosen = chosen ?? model.window(chosenBy: settings.choice)
        guard let (top, client) = chosen, let place = try display.place(of: client),
            let shown = try shown(of: client, at: place, in: top)
        else {
            (target, undrawnSince, cutSince) = (nil, nil, nil)
            try requireNumbered()
            let new = news.note(
                nil, other: chosen == nil ? model.overrideRedirectWindow(matching: settings.choice) : nil)
            if let new { try notice(new) }
            return nil
        }
        if let new = news.note((client, place)) { try notice(new) }
        let next = Target(top: top, client: client, place: place, isCut: shown.part != place)
        target = next
        let whole = CaptureRectangle(x: 0, y: 0, width: place.width, height: place.height)
        layers = [X11Connection.Layer(window: client, top: top, place: whole, corner: shown.corner)]
        popups = model.popups(of: top)
        for popup in popups where layers.count < X11Connection.maxLayers {
            // The model's places include borders, which are not in the picture.
            guard popup.place.intersection(place) != nil, let inner = try display.place(of: popup.top) else { continue }
            let inside = inner.relative(to: place)
            guard inside.intersection(whole) != nil else { continue }
            layers.append(X11Connection.Layer(window: popup.top, top: popup.top, place: inside))
        }
        return next
    }

    /// Whether a picture shows the right windows, after the events before it. Other windows may change all the time.
    ///
    /// Nothing is read here: the answers would be of a later moment, at which a window may not be secret any more.
    private func isCurrent(_ target: Target) -> Bool {
        guard !isStale else { return false }
        guard haveOthersChanged else { return true }
        return !model.hasUnread && model.shows(target.client, in: target.top) == true
            && model.popups(of: target.top).elementsEqual(popups, by: ==)
    }

    /// What a frame shows of its client, and where the client is in it; nil if that is less than half of the client.
    ///
    /// A window manager that minimizes a window may unmap it before its frame. One that rolls it up, or moves its frame
    /// to the taskbar, makes the frame smaller.
    private func shown(
        of client: UInt32, at place: CaptureRectangle, in top: UInt32
    ) throws -> (part: CaptureRectangle, corner: (x: Int, y: Int))? {
        guard client != top else { return (place, (0, 0)) }
        guard try display.isViewable(client), let frame = try display.place(of: top),
            let part = place.intersection(frame), 2 * part.width * part.height >= place.width * place.height
        else { return nil }
        return (part, (place.x - frame.x, place.y - frame.y))
    }

    // MARK: Pictures

    private func grab(
        _ now: MediaTime, _ connection: CaptureConnection, _ notice: (Notice) throws -> Void
    ) throws {
        schedule.grabbed(at: now)
        // Without DAMAGE, the server reports no changes.
        if !display.hasDamage { schedule.noteChange() }
        guard let target = try find(notice), WindowNews.canBeSent(target.place) else { return }
        // A frame that changes its size shows the whole client in a moment.
        cutSince = target.isCut ? cutSince ?? now : nil
        if let cutSince, now - cutSince < Self.patience { return schedule.noteChange() }
        let (width, height) = (target.place.width, target.place.height)
        let format = VideoSampleFormat(
            packed: display.format.pixelFormat, width: width, height: height,
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
            // A window that is resized all the time is never drawn in time: viewers see the parts that are.
            var isWhole = undrawnSince.map { now - $0 >= Self.patience } ?? false
            let made = try display.compose(
                layers, width: width, height: height, now: now, isWhole: &isWhole, into: frame)
            undrawnSince = isWhole ? nil : undrawnSince ?? now
            if !isWhole { schedule.noteChange() }
            guard let made else { return }
            moment = made
        } catch .notThere {
            isStale = true
            return schedule.noteChange()
        }
        // Takes the events that the picture contains. If its windows have changed, another picture is made.
        while let event = display.nextEvent(before: moment.sequence) { try take(event) }
        guard isCurrent(target) else { return schedule.retry() }
        if model.showsSecret { pointer.noteSecrets() }
        pointer.draw(moment, into: frame, target.place)
        // The window asks to be hidden, a rule hides it, or some window hides everything.
        let isSecure = model.isSecure(target.top) || model.hidesEverything
        let secure: CaptureSecureRegions = isSecure ? .wholeFrame : .none
        try connection.send(frame, at: .nanoseconds(now.nanoseconds), orientation: .up, secure: secure)
        if frame.isDone { spare = frame }
    }
}
