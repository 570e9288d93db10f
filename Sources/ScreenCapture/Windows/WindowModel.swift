internal import Grabbing
package import UpcastClient

/// Where the windows of a display are, as of a moment in the stream of its events. Pure.
///
/// The X server does one thing after the other, and numbers its answers. With all events before a picture applied, and
/// none after it, the model is what the picture shows.
package struct WindowModel: Sendable {
    struct Window {
        /// Nil while it is not known.
        var place: CaptureRectangle?
        var isViewable: Bool
        /// Older events are known already; nil for a window whose place is that of its events.
        var sequence: UInt32?
        /// Nil until they are read, and after a change.
        var facts: WindowFacts?
        /// It was secure before the change.
        var wasSecure = false
        /// Windows in it may move without an event: they were not looked at.
        var isUnwatched = true
        /// A window that another X client made may have come and gone in it before anybody looked. Not true any more
        /// when a client is found in it.
        var hadStranger = false
        /// Nobody has looked at it.
        var isNew = true
        /// It was found empty, perhaps at a later moment than that of the events so far.
        var wasFoundEmpty = false
        /// It may have become secure since its facts were read.
        var isDoubtful = true
    }

    let rules: WindowRules
    private(set) var windows: [UInt32: Window] = [:]
    private var tree = WindowTree()
    /// As of the facts that are noted.
    package var manager = WindowManager.none
    /// Nil if no application has to be in front.
    private var front: FrontWindows?
    /// As of the last time that all facts were known.
    private(set) var secure: Set<UInt32> = []
    var dialogs = SecretDialogs()
    /// Those that have had a secure window. Their menus stay secure when it is gone: it may be there, unmapped.
    private(set) var owners: Set<WindowNames.Owner> = []
    private static let maxOwners = 4096
    var ghosts = GhostPixels()
    /// What is painted over, as of this request.
    var erasure: (places: [CaptureRectangle], sequence: UInt32)?
    var stack = WindowStack()
    /// Windows are seen in one picture for all of them, unless there is a compositing manager.
    private let showsScreen: Bool
    private var left: [(window: UInt32, place: CaptureRectangle)] = []
    /// A compositing manager paints the screen, some time after windows have changed.
    package var isComposited = false {
        didSet { if isComposited { leaveToCompositor() } }
    }
    /// The root window.
    package var bounds: CaptureRectangle {
        didSet { if bounds != oldValue { scramble() } }
    }
    /// A window that may be secure went into another one since everything was known.
    private var lostUnknown = false
    /// Of this reading, those that show no client that is gone.
    private var harmless: [UInt32] = []

    /// - Parameters:
    ///   - bounds: the root window.
    ///   - showsScreen: whether it is the screen that is captured, where windows leave their pixels behind.
    ///   - front: the application that has to be in front; nil for none.
    package init(
        _ rules: WindowRules, bounds: CaptureRectangle, showsScreen: Bool = false, front: WindowRules? = nil
    ) {
        (self.rules, self.bounds, self.showsScreen) = (rules, bounds, showsScreen)
        self.front = front.map(FrontWindows.init)
    }

    /// Whether what windows leave on the screen stays there.
    var leavesPixels: Bool { showsScreen && !isComposited }

    /// Children of the root window of which nothing is known yet, the lowest one first.
    package mutating func add(_ found: [UInt32]) {
        stack.add(found)
        // What is there already may be seen at once.
        for window in found {
            windows[window] = Window(place: nil, isViewable: true, sequence: nil, facts: nil, hadStranger: true)
        }
    }

    /// Notes one window of a reading; `endReading` follows.
    ///
    /// - Parameter facts: nil if the window is gone: its event follows.
    package mutating func note(_ facts: WindowFacts?, of window: UInt32) {
        guard var known = windows[window], let facts else { return }
        // Events tell where a window is in the picture; its facts may be of a later moment.
        if known.place == nil {
            (known.place, known.isViewable, known.sequence) = (facts.place, facts.isViewable, facts.sequence)
        }
        // Its client may have come and gone before anybody looked, and its pixels are still there.
        let mayShowOther = facts.isEmptyFrame && (known.hadStranger || known.isNew && lostUnknown)
        // Events that come next may tell that it was on the screen with that client, and where.
        if mayShowOther, !known.isViewable, !known.wasFoundEmpty {
            known.wasFoundEmpty = true
            return windows[window] = known
        }
        if known.facts == nil, known.isViewable, mayShowOther { leave(known.place, of: window) }
        if known.isUnwatched, known.isViewable { scatter(in: known.place) }
        (known.facts, known.wasSecure, known.isUnwatched) = (facts, false, false)
        // An empty frame may show a stranger until a client is found in it; not what a manager has from the start.
        known.hadStranger = mayShowOther && !(known.isNew && known.hadStranger)
        (known.isNew, known.isDoubtful, known.wasFoundEmpty) = (false, false, false)
        windows[window] = known
        tree.note(facts.inside + facts.names.map(\.window) + [facts.client], in: window)
        front?.note(facts, of: window)
        secure = secureWindows()
        if owners.count < Self.maxOwners {
            let menus = menuOwners
            owners.formUnion(secure.flatMap { windows[$0]?.facts.map(menus.owners) ?? [] })
        }
        if !mayShowOther { harmless.append(window) }
    }

    /// All windows of a reading were noted, without an event between them: what belongs to a secure one is known.
    package mutating func endReading() {
        // What a window has left behind as a secure one, or with a client that is gone, stays secret.
        for window in secure { ghosts.certify(window) }
        for window in harmless where !secure.contains(window) { ghosts.forget(window) }
        harmless.removeAll()
        if lostUnknown, !windows.values.contains(where: { $0.facts == nil }) { lostUnknown = false }
    }

    package mutating func apply(_ event: WindowEvent) {
        endErasure(before: event.sequence)
        noteLeaving(event)
        let wasWhole = isWhole(for: event)
        if let gone = event.destroyed { dialogs.destroyed(gone) }
        switch event.kind {
        case .came(let place):
            front?.note(nil, of: event.window)
            windows[event.window] = Window(place: place, isViewable: false, sequence: nil, facts: nil)
            stack.put(event.window, .highest)
        case .went:
            front?.note(nil, of: event.window)
            if event.destroyed == nil, mayBeSecure(event.window) { lostUnknown = true }
            windows[event.window] = nil
            secure.remove(event.window)
            stack.remove(event.window)
            tree.forget(event.window)
        case .mapped: update(event) { $0.isViewable = true }
        case .unmapped: update(event) { $0.isViewable = false }
        case .moved(let place): update(event) { $0.place = place }
        case .movedInside, .restacked: break
        case .changed: forget(event.window)
        case .rearranged: forget(event.window, isDoubtful: false)
        case .cameInside(let isStranger):
            forget(event.window)
            guard let top = top(of: event.window) else { break }
            windows[top]?.isUnwatched = true
            if isStranger { windows[top]?.hadStranger = true }
        }
        if let level = event.level { stack.put(event.window, level) }
        if !wasWhole { uncover(event.window) }
    }

    /// A window that may be secure has left a place, or a client its frame.
    mutating func leave(_ place: CaptureRectangle?, of window: UInt32) {
        let place = place ?? bounds
        let isCertain = secure.contains(window) || windows[window]?.wasSecure ?? false
        if leavesPixels { ghosts.note(place, of: window, isCertain: isCertain, in: bounds) }
        if isComposited, let place = place.intersection(bounds) { left.append((window, place)) }
    }

    /// With another size of the screen, servers may show its pixels anywhere.
    private mutating func scramble() {
        let shows = windows.contains { id, window in window.isViewable && mayBeSecure(id) }
        if shows || !ghosts.isEmpty { leaveEverywhere() }
    }

    /// The screen may show secure windows anywhere until it is painted over.
    mutating func leaveEverywhere() { if leavesPixels { ghosts.note(bounds, of: 0, in: bounds) } }

    /// From here on, the places that show what is not there any more are the manager's.
    private mutating func leaveToCompositor() {
        ghosts.forEachPlace { left.append((0, $0)) }
        (ghosts, erasure) = (GhostPixels(), nil)
    }

    /// The places that were left since this was called last, while there is a compositing manager.
    mutating func takeLeft() -> [(window: UInt32, place: CaptureRectangle)] {
        defer { left.removeAll() }
        return left
    }

    /// Whether an event is older than what is known of a window.
    func isOld(_ event: WindowEvent, _ window: Window) -> Bool {
        // Sequence numbers wrap around.
        window.sequence.map { Int32(bitPattern: event.sequence &- $0) < 0 } ?? false
    }

    private mutating func update(_ event: WindowEvent, _ change: (inout Window) -> Void) {
        guard var window = windows[event.window], !isOld(event, window) else { return }
        change(&window)
        windows[event.window] = window
    }

    /// The child of the root window that a window is or is in.
    func top(of window: UInt32) -> UInt32? { windows[window] == nil ? tree.top(of: window) : window }

    /// The facts of a window are not true any more. An event of a window in it names that window.
    ///
    /// A window has events once it was looked at. One that is in no window as that was looked at last has gone into
    /// another one since. That has a change of its own, before this one, or was not looked at yet.
    ///
    /// - Parameter isDoubtful: it may have become secure.
    private mutating func forget(_ window: UInt32, isDoubtful: Bool = true) {
        guard let top = top(of: window), let known = windows[top] else { return }
        // A client that ends leaves its pixels in its frame, which is not secure then.
        if known.isViewable, mayBeSecure(top) { leave(known.place, of: top) }
        windows[top]?.facts = nil
        windows[top]?.isDoubtful = known.isDoubtful || isDoubtful
        windows[top]?.wasSecure = known.wasSecure || secure.contains(top)
        front?.note(nil, of: top)
    }

    /// Whether a child of the root window, or the client inside it, is of the application that has to be in front.
    /// False for one of which nothing is known.
    func isOfFront(_ window: UInt32) -> Bool { front?.contains(window) ?? false }

    /// Whether it is a child of the root window.
    func knows(_ window: UInt32) -> Bool { windows[window] != nil }

    /// Whether a picture may show a window of which nothing is known.
    package var hasUnknown: Bool { windows.values.contains { $0.isViewable && $0.facts == nil } }

    /// The windows to read when there is one. Those that are not viewable, too: a menu may come before the secure
    /// window of its process does, which a window manager maps later.
    package var unread: [UInt32] { windows.filter { $0.value.facts == nil }.keys.sorted() }

    /// What of the root window has to be hidden.
    ///
    /// - Parameters:
    ///   - hidesUnknown: hides windows of which nothing is known; otherwise they are left out.
    ///   - secrets: what it was is forgotten.
    package func collect(hidesUnknown: Bool, into secrets: inout WindowSecrets) {
        secrets.clear()
        for (id, window) in windows where window.isViewable {
            guard let facts = window.facts else {
                if hidesUnknown { secrets.hide(window.place ?? bounds, isEverywhere: window.place == nil) }
                continue
            }
            if secure.contains(id) || showsStranger(window) {
                secrets.hide(window.place ?? bounds, isEverywhere: facts.secure >= 2)
            }
        }
        // Frames have a limited number of regions.
        ghosts.forEachPlace { place in
            if !secrets.places.contains(where: { $0.contains(place) }) { secrets.hide(place) }
        }
    }

    /// Whether an empty frame may show a client that is gone. With a compositing manager, nothing paints that over.
    func showsStranger(_ window: Window) -> Bool { isComposited && window.hadStranger }
}
