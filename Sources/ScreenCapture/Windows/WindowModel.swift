internal import Grabbing
package import UpcastClient

/// Where the windows of a display are, as of a moment in the stream of its events. Pure.
///
/// The X server handles one request at a time, and numbers its answers and events. With exactly the events before a
/// picture applied, the model is what the picture shows.
package struct WindowModel: Sendable {
    let rules: WindowRules
    private(set) var windows: [UInt32: Window] = [:]
    private(set) var tree = WindowTree()
    /// As of the last reading.
    private(set) var manager = WindowManager.none
    /// The window manager's X client, if it also composites. As of the last reading.
    private(set) var painter: UInt32?
    /// The window manager shows the desktop instead of the windows. As of the last reading.
    private(set) var showsDesktop = false
    /// The window manager shows windows to choose from, as far as it was asked.
    var showsChoice = false
    /// The managers, or what they show, may have changed since the last reading.
    var hasUnreadManagers = false
    /// The desktop has changed since the last reading.
    var hasUnreadDesktop = false
    /// Nil if no application has to be in front.
    private var front: FrontWindows?
    /// As of the last reading.
    private(set) var secure: Set<UInt32> = []
    var dialogs = SecretDialogs()
    /// Programs that have had a secure window. Their menus stay secure when it has left the screen: it may still exist,
    /// unmapped.
    private(set) var owners = MenuSuspects()
    /// Programs that have had a window with a class that a rule matches. Their windows without a class stay secure.
    var named = MenuSuspects()
    var unseen: UnseenWindows
    var ghosts = GhostPixels()
    /// The places that are being painted over, and the sequence number of the request.
    var erasure: (places: [CaptureRectangle], sequence: UInt32)?
    var stack = WindowStack()
    let own: UInt32?
    /// The screen is captured: all windows share one picture, unless there is a compositing manager.
    private let showsScreen: Bool
    private(set) var roles = WindowRoles()
    var left: [Left] = []
    /// A compositing manager paints the screen, some time after windows have changed.
    package var isComposited = false {
        didSet { if isComposited { leaveToCompositor() } }
    }
    /// The root window.
    package internal(set) var bounds: CaptureRectangle
    /// A window that may be secure went into another one since all windows were last known.
    private var lostUnknown = false
    /// From the first change of the screen's size with secure windows on, the server may keep pixels of them.
    var hasOldPixels = false

    /// - Parameters:
    ///   - bounds: the root window.
    ///   - resourceMask: the bits of a window's number that its X client chooses.
    ///   - own: the X client that reads the windows. Its own windows have no secrets, and are not read.
    ///   - showsScreen: whether the screen is captured, where windows leave their pixels behind.
    ///   - front: the application that has to be in front; nil for none.
    package init(
        _ rules: WindowRules, bounds: CaptureRectangle, resourceMask: UInt32, own: UInt32? = nil,
        showsScreen: Bool = false, front: WindowRules? = nil
    ) {
        unseen = UnseenWindows(resourceMask: resourceMask)
        (self.rules, self.bounds, self.own, self.showsScreen) = (rules, bounds, own, showsScreen)
        self.front = front.map(FrontWindows.init)
    }

    /// Whether a secret window is on the screen, as far as is known.
    var showsSecret: Bool { windows.contains { $1.isViewable && secure.contains($0) } }

    /// Whether pixels that windows leave behind stay on the screen.
    var leavesPixels: Bool { showsScreen && !isComposited }

    /// Adds the children of the root window at the moment from which on there are events, the lowest first.
    package mutating func add(_ found: [FoundWindow]) {
        stack.add(found.map(\.window))
        for window in found {
            windows[window.window] = Window(
                place: window.place, isMapped: window.isViewable, facts: nil, stranger: .beforeStart,
                wasShown: window.isViewable)
        }
    }

    /// Notes a reading. All events before its moment were applied, and no others.
    ///
    /// Whether a window is secure depends on others. So the whole reading is noted before anything is decided.
    package mutating func note(_ reading: WindowReading) {
        // The reading is later than the last request to paint over.
        endErasure()
        manager = reading.manager
        let (wereSecure, isOneMissing, wereUnknown) = (secure, lostUnknown, placesAreUnknown)
        let others = reading.facts.filter { id, facts in
            let wasSecure = wereSecure.contains(id)
            return windows[id]?.mayShowGoneClient(facts, wasSecure: wasSecure, isOneMissing: isOneMissing) ?? false
        }
        for (id, facts) in others {
            if windows[id]?.isViewable ?? false { leave(windows[id]?.place ?? facts.place, of: id) }
            // A client that comes into the frame later may be harmless, but the frame still shows the previous one.
            ghosts.certify(id)
        }
        let known = reading.facts.filter { windows[$0.key] != nil }
        let new = known.keys.filter { windows[$0]?.isNew ?? false }
        for (id, facts) in known { note(facts, of: id, showsOther: others[id] != nil) }
        front?.note(known)
        unseen.find(unseen.lost.keys.filter { top(of: $0) != nil }, isAll: !hasUnreadWindows)
        unseen.note(reading.clients)
        var lookup = WindowRules.Lookup(for: rules)
        secure = secureWindows(reading.facts, &lookup)
        rememberOwners(&lookup)
        painter = reading.compositor.flatMap { manager == .client($0) ? $0 : nil }
        showsDesktop = reading.showsDesktop
        if wereUnknown, !placesAreUnknown { pass(bounds) }
        noteDesktop(hadSecrets: !wereSecure.isEmpty)
        for id in windows.keys { notePictures(in: id) }
        if isComposited { left += new.filter { others[$0] == nil && !mayBeSecure($0) }.map { .harmless($0) } }
        // What a secure window has left behind stays secret, whatever the window is later.
        for window in secure { ghosts.certify(window) }
        for id in reading.facts.keys where !secure.contains(id) && others[id] == nil {
            ghosts.forget(id)
            // The window may have moved since it was secure, and has taken its pixels along.
            guard wereSecure.contains(id), windows[id]?.isViewable ?? false else { continue }
            leave(windows[id]?.place, of: id, isCertain: true)
        }
        guard !hasUnreadWindows else { return }
        lostUnknown = false
        dialogs.forgetGone()
    }

    private mutating func note(_ facts: WindowFacts, of id: UInt32, showsOther: Bool) {
        guard var window = windows[id] else { return }
        if window.place == nil { window.place = facts.place }
        // From now on, a mapped window may hide everything, or nothing.
        (window.hidesNothing, window.hidesEverything) = (facts.hidesNothing, facts.hidesEverything)
        if window.isUnwatched, window.isViewable { scatter(in: window.place) }
        // An empty frame may show a stranger until a client is found in it. One from before the start does not: it may
        // be the manager's own window, such as a panel.
        window.stranger = showsOther && window.stranger != .beforeStart ? .came : .none
        (window.facts, window.group, window.names) = (facts, facts.group, facts.names)
        (window.transientFor, window.isTransientForGroup) = (facts.transientFor, facts.isTransientForGroup)
        (window.iconPlace, window.hasIconMoved) = (facts.iconPlace, false)
        window.isOfInputMethod = facts.isOfInputMethod
        roles.note(facts, of: id, manager: manager, maker: unseen.maker)
        (window.isUnwatched, window.isNew, window.isDoubtful, window.hasChanged) = (false, false, false, false)
        windows[id] = window
        tree.note(facts.inside + facts.names.map(\.window) + [facts.client], in: id)
    }

    /// Notes whether a window may show content of secret windows. The content stays until the window is unmapped.
    private mutating func notePictures(in id: UInt32) {
        guard let window = windows[id], window.isMapped, let facts = window.facts else { return }
        let isOfDesktop = facts.maker == painter || roles.isInPanel(facts.maker)
        let canShow = window.isOfInputMethod || facts.mayBePreview && isOfDesktop
        let mayShow = canShow && (window.mayShowSecrets || !secure.isEmpty)
        if mayShow != window.mayShowSecrets { windows[id]?.mayShowSecrets = mayShow }
    }

    private mutating func rememberOwners(_ lookup: inout WindowRules.Lookup) {
        let menus = menuOwners
        for facts in secure.compactMap({ windows[$0]?.facts }) {
            // The menu may be secure only because of a lost window, which may still be found inside another one, and be
            // harmless.
            let isSuspect = menus.isMenu(facts) && isOfUnseen(facts) && !isSecret(facts, &lookup)
            if !isSuspect { menus.owners(of: facts).forEach { owners.insert($0) } }
        }
    }

    package mutating func apply(_ event: WindowEvent) {
        endErasure(before: event.sequence)
        let wereUnknown = event.kind.takesAway && placesAreUnknown
        defer { if wereUnknown, !placesAreUnknown { pass(bounds) } }
        noteLeaving(event)
        let wasWhole = isWhole(for: event)
        noteGone(event)
        switch event.kind {
        case .came(let place):
            front?.forget(event.window)
            let window = newcomer(event.window, at: place)
            if place != nil { noteNew(event.window) }
            roles.forget(event.window)
            windows[event.window] = window
            stack.put(event.window, .highest)
        case .went:
            front?.forget(event.window)
            noteUnseen(event)
            if event.destroyed == nil, mayBeSecure(event.window) { lostUnknown = true }
            if isComposited, windows[event.window]?.isNew ?? false { left.append(.unread(event.window)) }
            windows[event.window] = nil
            secure.remove(event.window)
            roles.forget(event.window)
            stack.remove(event.window)
            tree.forget(event.window)
        case .mapped:
            update(event) {
                ($0.isMapped, $0.wasShown, $0.isMenu) = (true, true, event.isOverrideRedirect ?? false)
                // It may have asked to hide everything since it was last read.
                if $0.facts == nil { $0.hidesNothing = false }
                // X servers keep no pixels of a window that is not on the screen.
                if $0.facts?.isEmptyFrame ?? false { $0.stranger = .none }
            }
            notePictures(in: event.window)
            passTaskbar(event.window)
            // A program may change override-redirect after the window was read. The server sends no event for that.
            if let facts = windows[event.window]?.facts, let isMenu = event.isOverrideRedirect,
                facts.isOverrideRedirect != isMenu, !isOwn(event.window)
            {
                forget(event.window)
            }
        case .unmapped: update(event) { ($0.isMapped, $0.mayShowSecrets) = (false, false) }
        case .moved(let place): update(event) { $0.place = place }
        case .movedInside, .unmappedInside, .restacked: break
        case .iconMoved:
            // A taskbar moves all icons when one is added, so only windows that may be secure are reread. What becomes
            // secure is read anyway, but perhaps only after it has become an icon.
            if let top = top(of: event.window) {
                windows[top]?.hasIconMoved = true
                if painter != nil || hasUnreadManagers, mayBeSecure(top) { forget(top, isDoubtful: false) }
            }
        case .changed:
            if let top = top(of: event.window) {
                windows[top]?.hasChanged = true
            } else {
                lose(event.window)
            }
            forget(event.window)
        // Programs change both titles at once, so that the second event finds the window unread. A window that stays
        // harmless must not count as having left its place each time.
        case .renamed: forget(event.window, isDoubtful: rules.readTitles)
        case .stateChanged:
            // mutter iconifies a window by its WM_STATE alone, and leaves it mapped.
            if let top = top(of: event.window) { passTaskbar(top, isStateChange: true) }
            forget(event.window, isDoubtful: false)
        case .rearranged:
            noteEnd(event)
            noteUnseenClient(event)
            forget(event.window, isDoubtful: false)
        case .cameInside(let isStranger):
            forget(event.window)
            guard let top = top(of: event.window) else { break }
            windows[top]?.isUnwatched = true
            if isStranger, windows[top]?.stranger != .ended { windows[top]?.stranger = .came }
        }
        if let level = event.level { stack.put(event.window, level) }
        if !wasWhole { uncover(event.window) }
    }

    /// Notes that a window that may be secure has left a place, or a client its frame.
    mutating func leave(_ place: CaptureRectangle?, of window: UInt32, isCertain: Bool? = nil) {
        let place = place ?? bounds
        let isCertain = isCertain ?? self.isCertain(window)
        if leavesPixels { ghosts.note(place, of: window, isCertain: isCertain, in: bounds) }
        if isComposited, let place = place.intersection(bounds) { left.append(.place(place, of: window)) }
    }

    /// Notes that a manager may show secret windows anywhere in a place, because it animates them.
    mutating func pass(_ place: CaptureRectangle, _ kind: AnimationPaths.Path.Kind = .passed, isGuess: Bool = false) {
        left.append(.path(AnimationPaths.Path(place: place, kind: kind, isGuess: isGuess)))
    }

    /// From here on, the compositing manager paints the places that still show windows that have gone.
    private mutating func leaveToCompositor() {
        ghosts.forEachPlace { if let place = $0.intersection(bounds) { left.append(.place(place, of: nil)) } }
        (ghosts, erasure) = (GhostPixels(), nil)
    }

    /// The places that were left or passed since the last call, while there is a compositing manager.
    mutating func takeLeft() -> [Left] {
        defer { left.removeAll() }
        return left
    }

    private mutating func update(_ event: WindowEvent, _ change: (inout Window) -> Void) {
        guard var window = windows[event.window] else { return }
        change(&window)
        windows[event.window] = window
    }

    /// Notes a new window, which may have the number of a window that is gone.
    private mutating func noteNew(_ window: UInt32) {
        // Nothing more can be learned about the pixels that the old window has left.
        ghosts.certify(window)
        // All windows are known, and so are all dialogs of windows that are gone.
        if !hasUnreadWindows { dialogs.forgetGone() }
        dialogs.came(window)
    }

    /// Notes that a window is gone, because its dialogs may be read only afterwards.
    private mutating func noteGone(_ event: WindowEvent) {
        // A window that goes into another one is found there only if that one is looked at before the window ends.
        guard let gone = event.destroyed ?? (event.kind == .went ? event.window : nil) else { return }
        let around = top(of: event.window)
        let top = around.flatMap { windows[$0] }
        if let around, let top {
            let wasSecure = secure.contains(around)
            // A window known as harmless is not secret because of a new title.
            if wasSecure || top.isNew || top.stranger != .none {
                dialogs.noteGone(gone, group: wasSecure ? top.group : nil)
            }
        }
        if event.destroyed != nil { dialogs.destroyed(gone) }
    }

    /// A client that has ended in an unread frame may have been secret. The next client in the frame is another one.
    private mutating func noteEnd(_ event: WindowEvent) {
        guard event.destroyed != nil, let frame = top(of: event.window), let known = windows[frame],
            known.facts == nil, known.stranger != .none || known.isNew
        else { return }
        windows[frame]?.stranger = .ended
        ghosts.certify(frame)
    }

    /// The child of the root window that a window is or is in.
    func top(of window: UInt32) -> UInt32? { windows[window] == nil ? tree.top(of: window) : window }

    /// Forgets the facts of a child of the root window, because of an event of the child or of a window in it.
    ///
    /// A window reports events once it was looked at. An event of an unknown window means that the window was
    /// reparented since. Its new parent has an event of its own before this one, or was not looked at yet.
    ///
    /// - Parameter isDoubtful: whether the window may have become secure.
    mutating func forget(_ window: UInt32, isDoubtful: Bool = true) {
        guard let top = top(of: window), let known = windows[top] else { return }
        // A client that ends leaves its pixels in its frame, which is then not secure any more. A client that comes in
        // has not drawn yet.
        if known.isViewable, mayBeSecure(top) || showsStranger(known) { leave(known.place, of: top) }
        windows[top]?.facts = nil
        windows[top]?.isDoubtful = known.isDoubtful || isDoubtful
        front?.forget(top)
    }

    /// Whether a child of the root window, or the client inside it, belongs to the application that has to be in front.
    /// False for an unread window.
    func isOfFront(_ window: UInt32) -> Bool { front?.contains(window) ?? false }

    /// Whether `isOfFront` holds and the window is on the screen. A window manager unmaps a window before it reports
    /// another active window.
    func isOfFrontAndViewable(_ window: UInt32) -> Bool {
        isOfFront(window) && top(of: window).flatMap { windows[$0]?.isViewable } ?? false
    }

    /// Whether a window is a known child of the root window.
    func knows(_ window: UInt32) -> Bool { windows[window] != nil }

    /// Whether a picture may show a secret that is not known yet: an unread window, or a menu or dialog of an unread
    /// window that is not viewable.
    package var hasUnknown: Bool {
        unseen.isWaiting || hasUnreadManagers
            || windows.values.contains { $0.facts == nil && ($0.isViewable || $0.isDoubtful) }
    }

    /// Whether there is something to read.
    package var hasUnread: Bool {
        unseen.isWaiting || hasUnreadManagers || hasUnreadWindows || unseen.hasClientsToAsk
    }
    /// What has to be read.
    package var unread: WindowRequest {
        WindowRequest(
            windows: windows.filter { $0.value.facts == nil }.keys.sorted(), clients: unseen.clientsToAsk.sorted())
    }
    private var hasUnreadWindows: Bool { windows.values.contains { $0.facts == nil } }

    /// Collects what to hide of the root window.
    ///
    /// - Parameters:
    ///   - hidesUnknown: whether to hide unread windows, all menus while it is unknown who is suspect, and everything
    ///     while a change of the desktop is unread.
    ///   - secrets: cleared before.
    package func collect(hidesUnknown: Bool, into secrets: inout WindowSecrets) {
        secrets.clear()
        if placesAreUnknown || hidesUnknown && hasUnreadDesktop { secrets.hideEverything() }
        let menus = hidesUnknown && unseen.isWaiting ? menuOwners : nil
        for (id, window) in windows where window.isViewable {
            guard let facts = window.facts else {
                if hidesUnknown {
                    let isEverywhere = window.hidesEverything || window.place == nil
                    secrets.hide(window.place ?? bounds, isEverywhere: isEverywhere)
                }
                continue
            }
            if secure.contains(id) || showsStranger(window) || menus?.isMenu(facts) ?? false
                || isSecretForOthers(window)
            {
                secrets.hide(window.place ?? bounds, isEverywhere: facts.hidesEverything)
            }
        }
        // A frame has a limited number of regions, so a place inside another one is left out.
        ghosts.forEachPlace { place in
            if !secrets.places.contains(where: { $0.contains(place) }) { secrets.hide(place) }
        }
    }

    /// Whether an empty frame may show a client that is gone. With a compositing manager, such pixels are not painted
    /// over.
    func showsStranger(_ window: Window) -> Bool { isComposited && window.stranger != .none }
}
