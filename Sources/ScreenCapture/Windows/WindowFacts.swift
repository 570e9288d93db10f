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
    /// Whether the window manager has no say: menus and tooltips.
    package var isOverrideRedirect: Bool
    /// Of the request that told this: events with a lower one are older.
    package var sequence: UInt32
    /// Both parts of WM_CLASS.
    package var instance: String
    package var className: String
    package var title: String
    package var types: Types
    /// The value of `_UPCAST_SECURE`: 0 shows the window, 1 hides it, 2 hides everything while it is viewable.
    package var secure: UInt32
    package var transientFor: UInt32?
    /// The client window inside the frame; the window itself without a frame.
    package var client: UInt32
    /// As the server knows it; nil if it does not.
    package var process: UInt32?
    /// It may be the frame of a client that is gone, whose pixels it still shows.
    package var isEmptyFrame: Bool

    package init(
        place: CaptureRectangle, isViewable: Bool, isOverrideRedirect: Bool = false, sequence: UInt32 = 0,
        instance: String = "", className: String = "", title: String = "", types: Types = [], secure: UInt32 = 0,
        transientFor: UInt32? = nil, client: UInt32, process: UInt32? = nil,
        isEmptyFrame: Bool = false
    ) {
        (self.place, self.isViewable, self.isOverrideRedirect) = (place, isViewable, isOverrideRedirect)
        (self.sequence, self.instance, self.className, self.title) = (sequence, instance, className, title)
        (self.types, self.secure, self.transientFor) = (types, secure, transientFor)
        (self.client, self.process, self.isEmptyFrame) = (client, process, isEmptyFrame)
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
    }

    package var window: UInt32
    package var kind: Kind
    package var sequence: UInt32

    package init(_ kind: Kind, _ window: UInt32, sequence: UInt32) {
        (self.kind, self.window, self.sequence) = (kind, window, sequence)
    }
}
