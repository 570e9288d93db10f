internal import CXCB
internal import Grabbing
package import UpcastClient

private let maxWindows = 4096

/// What windows there are, and what is known of them.
extension X11Connection {
    /// Reports window events from now on. Returns the windows that are there.
    ///
    /// - Throws: `GrabError.lost`; `ScreenError` for more windows than can be watched, of which one may be secret.
    package func watchWindows() throws -> [UInt32] {
        var windows = [UInt32](repeating: 0, count: maxWindows)
        let count = Int(ask { unsafe upcast_x_watch_windows(handle, &windows, maxWindows) })
        guard count >= 0 else { throw GrabError.lost }
        guard count <= windows.count else {
            throw ScreenError(
                "the display has \(count) windows; upcast-screen can hide secret ones among at most \(windows.count)")
        }
        return Array(windows.prefix(count))
    }

    /// The client window that is active; nil for none, or if no window manager tells.
    package func activeWindow() throws(GrabError) -> UInt32? {
        var window: UInt32 = 0
        guard ask({ unsafe upcast_x_active_window(handle, &window) }) == 0 else { throw .lost }
        return window == 0 ? nil : window
    }

    package static let maxErased = Int(UPCAST_X_MAX_ERASED)

    /// Paints areas of the root window black, over all windows, and makes their programs draw again, later.
    ///
    /// - Parameter areas: at most `maxErased`.
    /// - Returns: the number of the request: events with this number or a higher one are of later moments.
    package func erase(_ areas: [CaptureRectangle]) -> UInt32 {
        let areas = areas.prefix(Self.maxErased).map { area in
            upcast_x_rectangle(
                x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
                height: UInt16(clamping: area.height))
        }
        return unsafe upcast_x_erase(handle, areas, UInt32(areas.count))
    }

    /// Reads what is not known of windows, as of the window manager that is there now.
    ///
    /// - Returns: whether a compositing manager is there.
    @discardableResult func readUnknown(of model: inout WindowModel) throws(GrabError) -> Bool {
        let (manager, isComposited) = try windowManager()
        model.manager = manager
        for window in model.unread { model.note(try facts(of: window), of: window) }
        model.endReading()
        return isComposited
    }

    /// Who the window manager is now, and whether there is a compositing manager.
    private func windowManager() throws(GrabError) -> (WindowManager, isComposited: Bool) {
        var manager = upcast_x_manager()
        guard ask({ unsafe upcast_x_read_manager(handle, &manager) }) == 0 else { throw .lost }
        guard manager.is_there else { return (.none, manager.is_composited) }
        return (manager.maker == 0 ? .unnamed : .client(manager.maker), manager.is_composited)
    }

    /// What is known of a window; nil if it is gone.
    package func facts(of window: UInt32) throws(GrabError) -> WindowFacts? {
        var facts = upcast_x_facts()
        let status = ask { unsafe upcast_x_read_facts(handle, window, &facts) }
        guard status >= 0 else { throw .lost }
        guard status == 0 else { return nil }
        return WindowFacts(
            place: CaptureRectangle(
                x: Int(facts.x), y: Int(facts.y), width: Int(facts.width), height: Int(facts.height)),
            isViewable: facts.is_viewable, isOverrideRedirect: facts.is_override_redirect, sequence: facts.sequence,
            names: try names(&facts), types: .init(rawValue: facts.types), secure: facts.secure,
            transientFor: facts.transient_for == 0 ? nil : facts.transient_for, client: facts.client,
            group: facts.group == 0 ? nil : facts.group, isTransientForGroup: facts.is_transient_for_group,
            isEmptyFrame: facts.is_empty_frame, hasUnseen: facts.has_unseen, maker: facts.maker,
            hasFrame: facts.has_frame, inside: inside(&facts))
    }

    private func inside(_ facts: inout upcast_x_facts) -> [UInt32] {
        let count = Int(facts.inside_count)
        return unsafe withUnsafeBytes(of: &facts.inside) { bytes in
            unsafe Array(bytes.bindMemory(to: UInt32.self).prefix(count))
        }
    }

    /// The client's, and those of all windows beside it and in it.
    private func names(_ facts: inout upcast_x_facts) throws(GrabError) -> [WindowNames] {
        let count = Int(facts.other_count)
        let others = unsafe withUnsafeBytes(of: &facts.others) { bytes in
            unsafe Array(bytes.bindMemory(to: UInt32.self).prefix(count))
        }
        var all = [Self.names(&facts.client_names)]
        for window in others {
            var names = upcast_x_names()
            let status = ask { unsafe upcast_x_read_names(handle, window, &names) }
            guard status >= 0 else { throw .lost }
            // One that is gone has an event, which asks for all of this again.
            guard status == 0 else { continue }
            all.append(Self.names(&names))
        }
        return all
    }

    private static func names(_ names: inout upcast_x_names) -> WindowNames {
        WindowNames(
            window: names.window, instance: text(&names.instance), className: text(&names.class_name),
            title: text(&names.title), oldTitle: text(&names.old_title), isCut: names.is_cut,
            process: names.process == 0 ? nil : names.process, maker: names.maker)
    }
}
