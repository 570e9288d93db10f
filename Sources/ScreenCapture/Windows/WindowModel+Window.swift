internal import UpcastClient

extension WindowModel {
    struct Window {
        /// Nil while unknown.
        var place: CaptureRectangle?
        var isMapped: Bool
        /// As in `WindowFacts`, from the last reading.
        var hidesNothing = false
        var hidesEverything = false
        /// Nil until the window is read, and after a change.
        var facts: WindowFacts?
        /// As in `WindowFacts`, from the last reading.
        var group: UInt32?
        var transientFor: UInt32?
        var isTransientForGroup = false
        /// The window's place in a taskbar, from the last reading.
        var iconPlace: CaptureRectangle?
        /// `iconPlace` may have changed since the last reading.
        var hasIconMoved = false
        /// Names of the client window and of windows in it, from the last reading.
        var names: [WindowNames] = []
        /// Windows in it may move without an event, because they were not looked at.
        var isUnwatched = true
        var stranger = Stranger.none
        /// It was never read.
        var isNew = true
        /// It may have become secure since its facts were read.
        var isDoubtful = true
        /// More than its title has changed since its facts were read.
        var hasChanged = false
        /// It has been on the screen, or may have been while it was inside another window.
        var wasShown = false
        /// An input method shows in it what is typed into other windows.
        var isOfInputMethod = false
        /// It may show content of windows that were secret since it was mapped, even when they are gone.
        var mayShowSecrets = false
        /// It was override-redirect when it was mapped.
        var isMenu = false

        /// It is on the screen, and has something to hide.
        var isViewable: Bool { isMapped && !hidesNothing }

        /// It was not read since it came, or since more than its title has changed. A title is not enough: a shell
        /// changes it when its window closes.
        var isUnread: Bool { facts == nil && (isNew || hasChanged) }

        /// Whether it may still show a client that is gone and was perhaps never read: an empty frame keeps the
        /// client's pixels. Input-only frames show nothing.
        func mayShowGoneClient(_ facts: WindowFacts, wasSecure: Bool, isOneMissing: Bool) -> Bool {
            facts.isEmptyFrame && !facts.isInputOnly && (wasSecure || stranger != .none || isNew && isOneMissing)
        }
    }

    /// Where a compositing manager may still show secret windows, and what is learned of such places.
    enum Left: Equatable {
        /// A place that a window has left; nil for several windows.
        case place(CaptureRectangle, of: UInt32?)
        case path(AnimationPaths.Path)
        /// A window has been read for the first time, and has nothing to hide.
        case harmless(UInt32)
        /// A window has gone before it was read.
        case unread(UInt32)
    }

    /// A window of another X client that may have come into a window, and ended there unread.
    enum Stranger {
        /// There was none, or a client was found since.
        case none
        /// What happened before the start is unknown.
        case beforeStart
        /// One came, and no client was found since.
        case came
        /// A window inside has ended, perhaps the stranger.
        case ended
    }
}

extension WindowModel {
    /// Whether this program has made a window.
    func isOwn(_ window: UInt32) -> Bool { own != nil && unseen.maker(of: window) == own }

    /// A child of the root window that has come. It is not on the screen yet.
    ///
    /// - Parameter place: nil if it comes back from inside another window, where it may have been looked at, and may
    ///   have been on the screen.
    func newcomer(_ window: UInt32, at place: CaptureRectangle?) -> Window {
        guard !isOwn(window) else { return Window(own: window, at: place) }
        let isDoubtful = place != nil || tree.top(of: window).map(mayBeSecure) ?? true
        return Window(place: place, isMapped: false, facts: nil, isDoubtful: isDoubtful, wasShown: place == nil)
    }
}

extension WindowModel.Window {
    /// A window of this program, which is known without being read. Rules do not apply to it. Its facts do not say that
    /// it is override-redirect, so that it does not count as a menu of a program.
    init(own window: UInt32, at place: CaptureRectangle?) {
        let none = CaptureRectangle(x: 0, y: 0, width: 0, height: 0)
        let facts = WindowFacts(place: place ?? none, isViewable: false, client: window)
        self.init(place: place, isMapped: false, facts: facts, isUnwatched: false, isNew: false, isDoubtful: false)
    }
}
