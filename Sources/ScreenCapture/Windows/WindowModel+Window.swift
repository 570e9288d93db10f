internal import UpcastClient

extension WindowModel {
    struct Window {
        /// Nil while it is not known.
        var place: CaptureRectangle?
        var isMapped: Bool
        /// As in `WindowFacts`, as it was read last.
        var hidesNothing = false
        var hidesEverything = false
        /// Nil until they are read, and after a change.
        var facts: WindowFacts?
        /// The window group, as it was read last.
        var group: UInt32?
        /// Where taskbars show it, as it was read last.
        var iconPlace: CaptureRectangle?
        /// Of the client and of windows in it, as they were read last.
        var names: [WindowNames] = []
        /// Windows in it may move without an event: they were not looked at.
        var isUnwatched = true
        var stranger = Stranger.none
        /// Nobody has looked at it.
        var isNew = true
        /// It may have become secure since its facts were read.
        var isDoubtful = true
        /// More than its title has changed since its facts were read.
        var hasChanged = false
        /// It has been on the screen since it came.
        var wasShown = false
        /// It shows what is typed into others.
        var isOfInputMethod = false
        /// It may show something of windows that were secret since it came. That stays when those are gone.
        var mayShowSecrets = false
        /// The window manager had no say when it was mapped.
        var isMenu = false

        /// It is on the screen, and has something to hide.
        var isViewable: Bool { isMapped && !hidesNothing }

        /// Nobody has looked at it since it came, or since it may have become secure. A title is not enough: a shell
        /// changes it when its window closes.
        var isUnread: Bool { facts == nil && (isNew || hasChanged) }

        /// An empty frame still shows the client that is gone, which may have come before anybody looked. Frames that
        /// only take input show nothing.
        func mayShowGoneClient(_ facts: WindowFacts, wasSecure: Bool, isOneMissing: Bool) -> Bool {
            facts.isEmptyFrame && !facts.isInputOnly && (wasSecure || stranger != .none || isNew && isOneMissing)
        }
    }

    /// Where a compositing manager may show a secret window that is not there any more.
    struct Left: Equatable {
        var place: CaptureRectangle
        /// The window that was there, or 0 for several; nil if windows only pass.
        var window: UInt32?
    }

    /// A window that another X client made, and that may have come and gone in a window before anybody looked.
    enum Stranger {
        /// There was none, or a client was found since.
        case none
        /// Nobody knows what there was before the start.
        case beforeStart
        /// One came, and nobody has looked since.
        case came
        /// A window inside has ended: perhaps the stranger.
        case ended
    }
}
