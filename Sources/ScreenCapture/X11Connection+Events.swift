internal import CXCB
internal import UpcastClient

private let eventsAtOnce = 256

/// What happens on the screen.
extension X11Connection {
    /// The next event that has arrived; nil for none.
    ///
    /// - Throws: `lost` when the server has ended.
    package func nextEvent() throws(GrabError) -> Event? {
        var event = upcast_x_event()
        while unsafe upcast_x_read_event(handle, &event) {
            if let event = Self.event(event) { return event }
        }
        if unsafe upcast_x_is_lost(handle) { throw .lost }
        return nil
    }

    /// Takes the events that have arrived.
    ///
    /// - Returns: whether there may be more. A flood of events is not taken at once, as other threads may have given
    ///   orders.
    func takeEvents(_ take: (Event) throws -> Void) throws -> Bool {
        for _ in 0..<eventsAtOnce {
            guard let event = try nextEvent() else { return false }
            try take(event)
        }
        return true
    }

    /// The next event that a picture contains; nil for none.
    ///
    /// - Parameter sequence: of the picture.
    package func nextEvent(before sequence: UInt32) -> Event? {
        var event = upcast_x_event()
        while unsafe upcast_x_next_event(handle, sequence, &event) {
            if let event = Self.event(event) { return event }
        }
        return nil
    }

    private static func event(_ event: upcast_x_event) -> Event? {
        let kind: WindowEvent.Kind
        switch event.kind {
        case UPCAST_X_DAMAGED: return .damaged
        case UPCAST_X_SCREEN_CHANGED: return .screenChanged
        case UPCAST_X_CURSOR_CHANGED: return .pointerShapeChanged
        case UPCAST_X_POINTER_MOVED: return .pointerMoved
        case UPCAST_X_WINDOW_CAME: kind = .came(event.width > 0 ? Self.place(event) : nil)
        case UPCAST_X_WINDOW_WENT: kind = .went
        case UPCAST_X_WINDOW_MAPPED: kind = .mapped
        case UPCAST_X_WINDOW_UNMAPPED: kind = .unmapped
        case UPCAST_X_WINDOW_MOVED:
            kind = .moved(Self.place(event))
        case UPCAST_X_WINDOW_MOVED_INSIDE: kind = .movedInside
        case UPCAST_X_WINDOW_UNMAPPED_INSIDE: kind = .unmappedInside
        case UPCAST_X_WINDOW_CHANGED: kind = .changed
        case UPCAST_X_WINDOW_RENAMED: kind = .renamed
        case UPCAST_X_WINDOW_CAME_INSIDE: kind = .cameInside(isStranger: event.is_stranger)
        case UPCAST_X_WINDOW_REARRANGED: kind = .rearranged
        case UPCAST_X_WINDOW_STATE_CHANGED: kind = .stateChanged
        case UPCAST_X_WINDOW_ICON_MOVED: kind = .iconMoved
        case UPCAST_X_WINDOW_RESTACKED: kind = .restacked
        case UPCAST_X_ACTIVE_CHANGED: return .activeChanged
        case UPCAST_X_DESKTOP_CHANGED: return .desktopChanged
        case UPCAST_X_OVERLAY_FOCUS_CHANGED: return .overlayFocusChanged
        case UPCAST_X_COMPOSITOR_CHANGED: return .composited(event.window != 0)
        default: return nil
        }
        return .window(
            WindowEvent(
                kind, event.window, sequence: event.sequence,
                destroyed: event.destroyed == 0 ? nil : event.destroyed, level: level(event),
                isOverrideRedirect: kind == .mapped ? event.is_override_redirect : nil))
    }

    private static func level(_ event: upcast_x_event) -> WindowStack.Level? {
        switch event.kind {
        case UPCAST_X_WINDOW_MOVED, UPCAST_X_WINDOW_RESTACKED:
            event.is_highest ? .highest : event.above == 0 ? .lowest : .above(event.above)
        default: nil
        }
    }

    private static func place(_ event: upcast_x_event) -> CaptureRectangle {
        CaptureRectangle(x: Int(event.x), y: Int(event.y), width: Int(event.width), height: Int(event.height))
    }
}
