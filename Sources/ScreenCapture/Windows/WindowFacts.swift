package import UpcastClient

/// What an X server knows of a child of its root window, at one moment.
package struct WindowFacts: Equatable, Sendable {
    package struct Types: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let notification = Types(rawValue: 1)
        package static let dialog = Types(rawValue: 2)
        /// Menus, tooltips and drop-down lists.
        package static let menu = Types(rawValue: 4)
        package static let dock = Types(rawValue: 8)
        package static let desktop = Types(rawValue: 16)
    }

    /// In pixels of the root window, with the border.
    package var place: CaptureRectangle
    package var isViewable: Bool
    /// It takes input and shows nothing, mapped or not.
    package var isInputOnly: Bool
    /// The window manager does not manage it, such as a menu or a tooltip.
    package var isOverrideRedirect: Bool
    /// Names of the client window first, then of windows beside it and in it, which may be of other programs.
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
    /// The window that its program draws as its icon (`icon_window` of WM_HINTS).
    package var icon: UInt32?
    /// Its place in a taskbar (_NET_WM_ICON_GEOMETRY), in pixels of the root window; nil for none.
    package var iconPlace: CaptureRectangle?
    /// It may be the frame of a client that is gone, whose pixels it still shows.
    package var isEmptyFrame: Bool
    /// It has more windows than were looked at. One of the others may be secret.
    package var hasUnseen: Bool
    /// The X client that made this window.
    package var maker: UInt32
    /// It contains a managed client. So it is the client's frame, if there is a window manager.
    package var hasFrame: Bool
    /// All windows in it that were looked at, itself included.
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

    /// Whether it may show previews of other windows, as for Alt+Tab, if a window manager or panel has made it: it is
    /// override-redirect, and no frame, panel or desktop.
    var mayBePreview: Bool { isOverrideRedirect && !hasFrame && types.isDisjoint(with: [.dock, .desktop]) }

    /// Whether it belongs to an input method, which shows in it what is typed into other programs' windows and does not
    /// name these. Such a window has a class, except with fcitx 4.
    var isOfInputMethod: Bool {
        guard isOverrideRedirect, types.isDisjoint(with: [.dock, .desktop]), let names = names.first else {
            return false
        }
        if names.className.isEmpty { return names.title.hasPrefix("Fcitx ") }
        let classes = [names.instance.lowercased(), names.className.lowercased()]
        return Self.inputMethods.contains { prefix in classes.contains { $0.hasPrefix(prefix) } }
    }
    private static let inputMethods = ["ibus-", "fcitx", "uim-", "scim-", "gcin", "hime", "nabi", "mozc", "sogou"]

    /// Whether a window manager may use it to take input for what it shows, such as an overview of windows.
    var takesInput: Bool { isOverrideRedirect && isInputOnly && !isGuard }
    /// Whether it is mutter's guard window, below which mutter keeps windows that are not shown.
    var isGuard: Bool { isOverrideRedirect && isInputOnly && title.hasSuffix("guard window") }

    /// Its client names no class, as Chromium's picture-in-picture, so that rules for classes cannot match it.
    var hasNoClass: Bool { names.first.map { $0.instance.isEmpty && $0.className.isEmpty && !$0.isClassCut } ?? false }

    /// It has no pixels to hide, and does not ask to hide everything.
    var hidesNothing: Bool { isInputOnly && !hidesEverything }
    /// It hides everything while it is viewable.
    var hidesEverything: Bool { secure >= 2 }

    /// The owners of the client window and of the other named windows.
    var owners: [WindowNames.Owner] { names.map(\.owner) }
    /// The client window's class and title.
    package var className: String { names.first?.className ?? "" }
    package var title: String { names.first?.title ?? "" }
}

/// What a window is called, and who made it.
package struct WindowNames: Equatable, Sendable {
    /// The process, as the server knows it. If unknown, as over a network, the X client.
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
    /// `WM_NAME`, if there is also a `_NET_WM_NAME`.
    package var oldTitle: String
    /// A part of WM_CLASS is truncated, so that nobody knows whether a pattern matches.
    package var isClassCut: Bool
    /// A title is truncated, or cannot be read.
    package var isTitleCut: Bool
    /// Nil if unknown to the server.
    package var process: UInt32?
    /// The X client that made the window. A process may have several.
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
        /// It was created or reparented to the root window, with its place if known. It is not viewable yet.
        case came(CaptureRectangle?)
        /// It was destroyed, or reparented into another window.
        case went
        case mapped, unmapped
        case moved(CaptureRectangle)
        /// A window in it was moved or resized.
        case movedInside
        /// A window in it was unmapped, perhaps its client.
        case unmappedInside
        /// What is known of it may be out of date.
        case changed
        /// It, or a window in it, has a new title.
        case renamed
        /// As `changed`. A window came into it, which has no events yet. `isStranger`: another X client may have made
        /// it.
        case cameInside(isStranger: Bool)
        /// A window in it has gone. It has to be reread, but no window becomes secure.
        case rearranged
        /// As `rearranged`: the window manager manages it differently. It may be an icon now, or no longer one.
        case stateChanged
        /// It, or a window in it, has a new place in the taskbar.
        case iconMoved
        /// Its place in the stacking order has changed.
        case restacked

        /// Whether the event takes the window off the screen.
        var takesAway: Bool { self == .unmapped || self == .went }

        /// Whether readings of any window before and after the event may differ.
        var changesFacts: Bool {
            switch self {
            case .came, .went, .changed, .renamed, .cameInside, .rearranged, .stateChanged: true
            case .mapped, .unmapped, .moved, .movedInside, .unmappedInside, .iconMoved, .restacked: false
            }
        }
    }

    package var window: UInt32
    package var kind: Kind
    package var sequence: UInt32
    /// The window itself or a window in it, if that was destroyed.
    package var destroyed: UInt32?
    /// Its new level among the children of the root window; nil if unchanged.
    package var level: WindowStack.Level?
    /// As in `WindowFacts`; nil if the event does not say.
    package var isOverrideRedirect: Bool?

    package init(
        _ kind: Kind, _ window: UInt32, sequence: UInt32, destroyed: UInt32? = nil, level: WindowStack.Level? = nil,
        isOverrideRedirect: Bool? = nil
    ) {
        (self.kind, self.window, self.sequence) = (kind, window, sequence)
        (self.destroyed, self.level, self.isOverrideRedirect) = (destroyed, level, isOverrideRedirect)
    }
}
