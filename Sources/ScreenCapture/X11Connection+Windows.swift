internal import CXCB
internal import Grabbing
package import UpcastClient

private let maxWindows = 4096
private let readAtOnce = Int(UPCAST_X_READ_AT_ONCE)

/// The windows of a display, and facts about them.
extension X11Connection {
    /// The bits of a window ID that its X client chooses; the other bits identify the client.
    package var resourceMask: UInt32 { unsafe upcast_x_resource_mask(handle) }

    /// The client bits of windows that this connection makes.
    var ownClient: UInt32 { unsafe upcast_x_own_client(handle) }

    /// What to tell a user about rules whose processes cannot be looked up on this system; nil for nothing. Only after
    /// `watchWindows`.
    func hint(about rules: WindowRules) -> String? {
        guard rules.readProcesses, unsafe !upcast_x_knows_processes(handle) else { return nil }
        return "the processes of windows are not known, as with an X server on another machine, in another container, "
            + "or behind ssh -X; rules about process and user hide all windows, and choose none; use class or title "
            + "instead"
    }

    /// Reports window events from now on. Returns the children of the root window at this moment, the lowest one first.
    ///
    /// - Throws: `GrabError.lost`; `ScreenError` for more windows than can be watched, as any of them may be secret.
    package func watchWindows() throws -> [FoundWindow] {
        var windows = [upcast_x_window](repeating: upcast_x_window(), count: maxWindows)
        let count = Int(ask { unsafe upcast_x_watch_windows(handle, &windows, maxWindows) })
        guard count >= 0 else { throw GrabError.lost }
        guard count <= windows.count else {
            throw ScreenError(
                "the display has \(count) windows; upcast-screen can hide secret ones among at most \(windows.count)")
        }
        // A window that the server does not describe may be anywhere.
        return windows.prefix(count).map { window in
            FoundWindow(
                window: window.window, place: window.is_there ? Self.place(window) : nil,
                isViewable: window.is_viewable || !window.is_there)
        }
    }

    /// The active client window; nil for none, or if no window manager reports it.
    package func activeWindow() throws(GrabError) -> UInt32? {
        var window: UInt32 = 0
        guard ask({ unsafe upcast_x_active_window(handle, &window) }) == 0 else { throw .lost }
        return window == 0 ? nil : window
    }

    /// Whether the overlay window (Composite) has the keyboard: the compositing manager shows something of its own.
    func hasOverlayFocus() throws(GrabError) -> Bool {
        var hasFocus = false
        guard ask({ unsafe upcast_x_overlay_focus(handle, &hasFocus) }) == 0 else { throw .lost }
        return hasFocus
    }

    package static let maxErased = Int(UPCAST_X_MAX_ERASED)

    /// Paints areas of the root window black, over all windows, and makes their programs draw again afterwards.
    ///
    /// - Parameter areas: at most `maxErased`.
    /// - Returns: the sequence number of the request: events with this number or a higher one came later.
    package func erase(_ areas: [CaptureRectangle]) -> UInt32 {
        let areas = areas.prefix(Self.maxErased).map(Self.rectangle)
        return unsafe upcast_x_erase(handle, areas, UInt32(areas.count))
    }

    /// Makes the compositing manager paint an area, until `endRepaint`.
    func askRepaint(_ area: CaptureRectangle) {
        var area = Self.rectangle(area)
        unsafe upcast_x_ask_repaint(handle, &area)
    }

    /// Makes the compositing manager paint windows, which look as before.
    func redraw(_ windows: [(window: UInt32, place: CaptureRectangle)]) {
        let drawn = windows.map { window, place in
            upcast_x_drawn(
                window: window, width: UInt16(clamping: place.width), height: UInt16(clamping: place.height))
        }
        unsafe upcast_x_redraw(handle, drawn, UInt32(drawn.count))
    }

    func endRepaint() { unsafe upcast_x_end_repaint(handle) }

    /// Shows reference marks above all other windows, or puts them there again.
    ///
    /// - Parameter places: from `ReferenceMark.places`.
    /// - Returns: the window of each mark.
    func showMarks(at places: [CaptureRectangle]) -> [UInt32] {
        precondition(places.count == Int(UPCAST_X_MARKS))
        var windows = [UInt32](repeating: 0, count: places.count)
        ask { unsafe upcast_x_show_marks(handle, places.map(Self.rectangle), &windows) }
        return windows
    }

    func hideMarks() { unsafe upcast_x_hide_marks(handle) }

    private static func rectangle(_ area: CaptureRectangle) -> upcast_x_rectangle {
        upcast_x_rectangle(
            x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
            height: UInt16(clamping: area.height))
    }

    /// Reads the window manager and the compositing manager, and no windows.
    func readManagers() throws(GrabError) -> WindowReading {
        var found = upcast_x_manager()
        guard ask({ unsafe upcast_x_read_manager(handle, &found) }) == 0 else { throw .lost }
        let manager: WindowManager =
            !found.is_there ? .none : found.maker == 0 ? .unnamed : .client(found.maker)
        return WindowReading(
            manager: manager, compositor: found.compositor == 0 ? nil : found.compositor & ~resourceMask,
            showsDesktop: found.shows_desktop)
    }

    private static func place(_ window: upcast_x_window) -> CaptureRectangle {
        CaptureRectangle(x: Int(window.x), y: Int(window.y), width: Int(window.width), height: Int(window.height))
    }

    private static func place(_ area: upcast_x_rectangle) -> CaptureRectangle? {
        guard area.width > 0 else { return nil }
        return CaptureRectangle(x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height))
    }

    /// Facts about windows; those that are gone are left out.
    package func facts(of windows: [UInt32]) throws(GrabError) -> [UInt32: WindowFacts] {
        var all: [UInt32: WindowFacts] = [:]
        for start in stride(from: 0, to: windows.count, by: readAtOnce) {
            let part = Array(windows[start..<min(start + readAtOnce, windows.count)])
            var found = [upcast_x_facts](repeating: upcast_x_facts(), count: part.count)
            let status = ask { unsafe upcast_x_read_facts(handle, part, UInt32(part.count), &found) }
            guard status == 0 else { throw .lost }
            for index in found.indices where found[index].own.is_there {
                all[part[index]] = try facts(&found[index])
            }
        }
        return all
    }

    /// The owners of X clients; nil for clients that have ended.
    func owners(of clients: [UInt32]) throws(GrabError) -> [UInt32: WindowNames.Owner?] {
        var all: [UInt32: WindowNames.Owner?] = [:]
        for start in stride(from: 0, to: clients.count, by: readAtOnce) {
            let part = Array(clients[start..<min(start + readAtOnce, clients.count)])
            var found = [upcast_x_client](repeating: upcast_x_client(), count: part.count)
            let status = ask { unsafe upcast_x_read_clients(handle, part, UInt32(part.count), &found) }
            guard status == 0 else { throw .lost }
            for (client, answer) in zip(part, found) {
                let owner: WindowNames.Owner = answer.process == 0 ? .client(client) : .process(answer.process)
                all.updateValue(answer.is_there ? owner : nil, forKey: client)
            }
        }
        return all
    }

    private func facts(_ facts: inout upcast_x_facts) throws(GrabError) -> WindowFacts {
        WindowFacts(
            place: Self.place(facts.own), isViewable: facts.own.is_viewable,
            isOverrideRedirect: facts.own.is_override_redirect, names: try names(&facts),
            types: .init(rawValue: facts.types), secure: facts.secure,
            transientFor: facts.transient_for == 0 ? nil : facts.transient_for, client: facts.client,
            group: facts.group == 0 ? nil : facts.group, isTransientForGroup: facts.is_transient_for_group,
            icon: facts.icon == 0 ? nil : facts.icon, iconPlace: Self.place(facts.icon_place),
            isInputOnly: facts.own.is_input_only, isEmptyFrame: facts.is_empty_frame, hasUnseen: facts.has_unseen,
            maker: facts.maker, hasFrame: facts.has_frame, inside: Self.windows(&facts.inside, facts.inside_count))
    }

    private static func windows<Array>(_ array: inout Array, _ count: UInt32) -> [UInt32] {
        unsafe withUnsafeBytes(of: &array) { bytes in
            unsafe [UInt32](bytes.bindMemory(to: UInt32.self).prefix(Int(count)))
        }
    }

    /// The client's names, then those of all other named windows around it and in it.
    private func names(_ facts: inout upcast_x_facts) throws(GrabError) -> [WindowNames] {
        let client = facts.client
        let others = Self.windows(&facts.named, facts.named_count).filter { $0 != client }
        var all = [Self.names(&facts.client_names)]
        for start in stride(from: 0, to: others.count, by: readAtOnce) {
            let part = Array(others[start..<min(start + readAtOnce, others.count)])
            var found = [upcast_x_names](repeating: upcast_x_names(), count: part.count)
            let status = ask { unsafe upcast_x_read_names(handle, part, UInt32(part.count), &found) }
            guard status == 0 else { throw .lost }
            // A window that is gone causes an event, after which all of this is read again.
            for index in found.indices where found[index].is_there { all.append(Self.names(&found[index])) }
        }
        return all
    }

    private static func names(_ names: inout upcast_x_names) -> WindowNames {
        WindowNames(
            window: names.window, instance: text(&names.instance), className: text(&names.class_name),
            title: text(&names.title), oldTitle: text(&names.old_title), isClassCut: names.is_class_cut,
            isTitleCut: names.is_title_cut, process: names.process == 0 ? nil : names.process, maker: names.maker)
    }
}
