package import UpcastClient

/// What an X server knows of a child of its root window, at one moment.
package struct WindowFacts: Equatable, Sendable {
    package struct Types: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let notification = Types(rawValue: 1)
        package static let dialog = Types(rawValue: 2)
        /// Menus, tooltips and lists of choices.
        package static let menu = Types(rawValue: 4)
        package static let dock = Types(rawValue: 8)
        package static let desktop = Types(rawValue: 16)
    }

    /// In pixels of the root window, with the border.
    package var place: CaptureRectangle
    package var isViewable: Bool
    /// It takes input and shows nothing, mapped or not.
    package var isInputOnly: Bool
    /// Whether the window manager has no say: menus and tooltips.
    package var isOverrideRedirect: Bool
    /// Of the client first, then of windows beside it and in it, which may be of other programs.
    package var names: [WindowNames]
    package var types: Types
    /// The value of `_UPCAST_SECURE`: 0 shows the window, 1 hides it, 2 hides everything while it is viewable.
    package var secure: UInt32
    package var transientFor: UInt32?
    /// The client window inside the frame; the window itself without a frame.
    package var client: UInt32
    /// The window group, and whether the window is transient for all of it.
    package var group: UInt32?
    package var isTransientForGroup: Bool
    /// The window that its program draws as its icon.
    package var icon: UInt32?
    /// Where taskbars show it, in pixels of the root window; nil for nowhere.
    package var iconPlace: CaptureRectangle?
    /// It may be the frame of a client that is gone, whose pixels it still shows.
    package var isEmptyFrame: Bool
    /// There are more windows in it than were looked at: one of them may be secret.
    package var hasUnseen: Bool
    /// The X client that made this window.
    package var maker: UInt32
    /// The client is managed, and inside: this is its frame, if there is a window manager.
    package var hasFrame: Bool
    /// All windows that were looked at, itself included.
    package var inside: [UInt32]

    package init(
        place: CaptureRectangle, isViewable: Bool, isOverrideRedirect: Bool = false,
        names: [WindowNames] = [], types: Types = [], secure: UInt32 = 0, transientFor: UInt32? = nil, client: UInt32,
        group: UInt32? = nil, isTransientForGroup: Bool = false, icon: UInt32? = nil,
        iconPlace: CaptureRectangle? = nil, isInputOnly: Bool = false, isEmptyFrame: Bool = false,
        hasUnseen: Bool = false, maker: UInt32? = nil, hasFrame: Bool = false, inside: [UInt32] = []
    ) {
        (self.place, self.isViewable, self.isOverrideRedirect) = (place, isViewable, isOverrideRedirect)
        (self.names, self.types, self.secure, self.transientFor) = (names, types, secure, transientFor)
        (self.client, self.group, self.isTransientForGroup) = (client, group, isTransientForGroup)
        (self.icon, self.iconPlace, self.isInputOnly) = (icon, iconPlace, isInputOnly)
        (self.isEmptyFrame, self.hasUnseen, self.hasFrame) = (isEmptyFrame, hasUnseen, hasFrame)
        (self.maker, self.inside) = (maker ?? names.first?.maker ?? 0, inside)
    }

    /// Whether it may show pictures of other windows, as one for Alt+Tab does: it is the window manager's own, and no
    /// frame, panel or desktop.
    ///
    /// - Parameter painter: the window manager, if it also composites.
    func mayBePreview(by painter: UInt32?) -> Bool {
        maker == painter && isOverrideRedirect && !hasFrame && types.isDisjoint(with: [.dock, .desktop])
    }

    /// Whether an input method shows in it what is typed into windows of other programs, which it does not name. Such
    /// windows have a class, except those of fcitx 4.
    var isOfInputMethod: Bool {
        guard isOverrideRedirect, types.isDisjoint(with: [.dock, .desktop]), let names = names.first else {
            return false
        }
        if names.className.isEmpty { return names.title.hasPrefix("Fcitx ") }
        let classes = [names.instance.lowercased(), names.className.lowercased()]
        return Self.inputMethods.contains { prefix in classes.contains { $0.hasPrefix(prefix) } }
    }
    private static let inputMethods = ["ibus-", "fcitx", "uim-", "scim-", "gcin", "hime", "nabi", "mozc", "sogou"]

    /// Whether it may take input for what a window manager shows, such as windows to choose from.
    var takesInput: Bool { isOverrideRedirect && isInputOnly && !isGuard }
    /// mutter's, below which it keeps windows that are not shown.
    var isGuard: Bool { isOverrideRedirect && isInputOnly && title.hasSuffix("guard window") }

    /// It has no pixels to hide, and does not ask to hide everything.
    var hidesNothing: Bool { isInputOnly && !hidesEverything }
    /// While it is viewable.
    var hidesEverything: Bool { secure >= 2 }

    /// Who owns the window and what is in it.
    var owners: [WindowNames.Owner] { names.map(\.owner) }
    /// The client's.
    package var className: String { names.first?.className ?? "" }
    package var title: String { names.first?.title ?? "" }
}

/// What a window is called, and who made it.
package struct WindowNames: Equatable, Sendable {
    /// A process as the server knows it; or else the X client, as on connections over a network.
    package enum Owner: Hashable, Sendable {
        case process(UInt32)
        case client(UInt32)
    }

    package var window: UInt32
    /// Both parts of WM_CLASS.
    package var instance: String
    package var className: String
    /// `_NET_WM_NAME`, or `WM_NAME` if that is the only one.
    package var title: String
    /// `WM_NAME` beside it.
    package var oldTitle: String
    /// A part of WM_CLASS is longer: nobody knows whether a pattern fits.
    package var isClassCut: Bool
    /// A title is longer, or cannot be read.
    package var isTitleCut: Bool
    /// Nil if the server does not know it.
    package var process: UInt32?
    /// The X client, of which a process may have several.
    package var maker: UInt32
    package var owner: Owner

    package init(
        window: UInt32, instance: String = "", className: String = "", title: String = "", oldTitle: String = "",
        isClassCut: Bool = false, isTitleCut: Bool = false, process: UInt32? = nil, maker: UInt32 = 0
    ) {
        (self.window, self.instance, self.className, self.title) = (window, instance, className, title)
        (self.oldTitle, self.isClassCut, self.isTitleCut) = (oldTitle, isClassCut, isTitleCut)
        (self.process, self.maker) = (process, maker)
        owner = process.map(Owner.process) ?? .client(maker)
    }
}

/// What has happened to a child of the root window, or to a window inside one.
package struct WindowEvent: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// It was made, or came from another window, with its place if that is known; it is not viewable yet.
        case came(CaptureRectangle?)
        /// It was destroyed, or went into another window.
        case went
        case mapped, unmapped
        case moved(CaptureRectangle)
        /// A window inside it has moved or has another size.
        case movedInside
        /// What is known of it may not be true any more.
        case changed
        /// It, or a window in it, has another title.
        case renamed
        /// As `changed`; a window in it has no events yet, which another X client may have made.
        case cameInside(isStranger: Bool)
        /// A window in it has gone, or is managed otherwise: what is known of it has to be read again. That makes no
        /// window secure.
        case rearranged
        /// It, or a window in it, has another place in the taskbar.
        case iconMoved
        /// It is above or below others than before.
        case restacked

        /// Whether a window is not on the screen any more.
        var takesAway: Bool { self == .unmapped || self == .went }

        /// Whether what is read of any window before it and after it may differ.
        var changesFacts: Bool {
            switch self {
            case .came, .went, .changed, .renamed, .cameInside, .rearranged: true
            case .mapped, .unmapped, .moved, .movedInside, .iconMoved, .restacked: false
            }
        }
    }

    package var window: UInt32
    package var kind: Kind
    package var sequence: UInt32
    /// It, or a window in it, if that was destroyed.
    package var destroyed: UInt32?
    /// Where it is now among the children of the root window; nil if that has not changed.
    package var level: WindowStack.Level?
    /// As in `WindowFacts`; nil if the event does not tell.
    package var isOverrideRedirect: Bool?

    package init(
        _ kind: Kind, _ window: UInt32, sequence: UInt32, destroyed: UInt32? = nil, level: WindowStack.Level? = nil,
        isOverrideRedirect: Bool? = nil
    ) {
        (self.kind, self.window, self.sequence) = (kind, window, sequence)
        (self.destroyed, self.level, self.isOverrideRedirect) = (destroyed, level, isOverrideRedirect)
    }
}
