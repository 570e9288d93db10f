internal import CXCB
internal import Glibc
internal import LinuxSystem
package import UpcastClient

/// A connection to an X server, of which the root window is captured.
///
/// One thread at a time, except `detach`. The server writes pictures into the memory that the daemon reads (MIT-SHM
/// 1.2), and reports what has changed (DAMAGE).
@safe package final class X11Connection: FrameWriter, @unchecked Sendable /* only `detached` is used by any thread */ {
    /// What has happened on the screen.
    package enum Event: Equatable, Sendable {
        case damaged
        /// The root window has another size, or monitors have changed.
        case screenChanged
        case pointerShapeChanged
        case window(WindowEvent)
        /// Another window is active, as the window manager says.
        case activeChanged
        /// Something was drawn, with `watchDrawing`.
        case drawn(CaptureRectangle)
    }

    /// What was true at the moment of a picture.
    package struct Moment: Equatable, Sendable {
        /// In pixels of the root window; nil if the server does not report it, or reports too much.
        package var damage: [CaptureRectangle]?
        /// In pixels of the root window; nil if the pointer is on another screen.
        package var pointer: (x: Int, y: Int)?
        /// Events with a lower number are in the picture, and no others.
        package var sequence: UInt32 = 0

        package static func == (a: Self, b: Self) -> Bool {
            a.damage == b.damage && a.pointer?.x == b.pointer?.x && a.pointer?.y == b.pointer?.y
        }
    }

    package enum GrabError: Error {
        /// The area is not there any more: the screen changes at this moment.
        case notThere
        /// The server has ended.
        case lost
    }

    package let format: ScreenFormat
    package let hasDamage: Bool
    package let hasPointer: Bool
    /// Whether the server can write to the memory of this process.
    package let sharesMemory: Bool
    /// The size of the root window, in pixels.
    package private(set) var width: Int
    package private(set) var height: Int

    private let handle: OpaquePointer
    /// Segments that no frame uses any more.
    private let detached = Monitor<[UInt32]>([])
    /// The server's pixels, where they have to be converted.
    private var stored: [UInt8] = []
    private static let maxPointerPixels = 256 * 256
    private static let maxMonitors = 16
    private static let maxWindows = 4096
    private static let eventsAtOnce = 256

    /// - Parameter display: nil for that of the environment.
    /// - Throws: what is missing, and how to get it.
    package init(display: String?) throws(ScreenError) {
        let session = unsafe getenv("DISPLAY").map { unsafe String(cString: $0) }
        let name = display ?? session ?? ""
        guard !name.isEmpty else {
            throw ScreenError(
                "there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set. Name one, such as --display :0 or "
                    + "--wayland wayland-1")
        }
        var error: CInt = 0
        guard let opened = unsafe name.withCString({ unsafe upcast_x_open($0, &error) }) else {
            throw Self.failure(name, error)
        }
        var screen = upcast_x_screen()
        guard unsafe upcast_x_begin(opened, &screen) == 0 else {
            unsafe upcast_x_close(opened)
            throw ScreenError("the X server \(name) closed the connection", isTemporary: true)
        }
        do throws(ScreenError) {
            guard !screen.is_xwayland else {
                throw ScreenError(
                    "\(name) is Xwayland, which has no picture of the desktop: capture the Wayland compositor; set "
                        + "WAYLAND_DISPLAY as in its session, or name its socket, such as --wayland wayland-1")
            }
            format = try ScreenFormat(
                bitsPerPixel: Int(screen.bits_per_pixel),
                masks: .init(red: screen.red_mask, green: screen.green_mask, blue: screen.blue_mask),
                isTrueColor: screen.is_true_color, isLittleEndian: screen.is_lsb_first)
        } catch {
            unsafe upcast_x_close(opened)
            throw error
        }
        unsafe handle = opened
        hasDamage = screen.has_damage
        hasPointer = screen.has_fixes
        sharesMemory = screen.has_shared_memory
        (width, height) = (Int(screen.width), Int(screen.height))
    }

    deinit { unsafe upcast_x_close(handle) }

    private static func failure(_ name: String, _ error: CInt) -> ScreenError {
        switch error {
        case 5: ScreenError("\(name) is not the name of an X display; one is :0")
        case 6, CInt(UPCAST_X_NO_SCREEN): ScreenError("the X server of \(name) has no such screen; try it without .N")
        default:
            ScreenError(
                "cannot connect to the X display \(name): no server is there, or it refuses this user (set XAUTHORITY "
                    + "to the file of the session, or run xhost +SI:localuser:NAME in it)", isTemporary: true)
        }
    }

    /// For `poll`.
    package var descriptor: CInt { unsafe upcast_x_descriptor(handle) }

    // MARK: Frames

    package func attach(_ descriptor: CInt, byteCount: Int) -> UInt32? {
        guard sharesMemory, format.conversion == nil else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        var segment: UInt32 = 0
        return unsafe upcast_x_attach(handle, copy, &segment) == 0 ? segment : nil
    }

    package func detach(_ memory: UInt32) { detached.withLock { $0.append(memory) } }

    /// Gets a picture of a part of the root window.
    ///
    /// - Parameters:
    ///   - area: within the root window.
    ///   - frame: in which the server or this process writes it.
    package func grab(_ area: CaptureRectangle, into frame: CaptureFrame) throws(GrabError) -> Moment {
        try grab(0, area, into: frame)
    }

    /// - Parameter pixmap: 0 for the root window.
    private func grab(
        _ pixmap: UInt32, _ area: CaptureRectangle, into frame: CaptureFrame
    ) throws(GrabError) -> Moment {
        for segment in detached.withLock({ segments in
            defer { segments = [] }
            return segments
        }) { unsafe upcast_x_detach(handle, segment) }
        var rectangle = upcast_x_rectangle(
            x: Int16(area.x), y: Int16(area.y), width: UInt16(area.width), height: UInt16(area.height))
        var picture = upcast_x_picture()
        let status: CInt
        if let place = frame.writerPlace {
            status = unsafe upcast_x_grab(
                handle, pixmap, &rectangle, place.memory, UInt32(place.offset), nil, 0, &picture)
        } else if let conversion = format.conversion {
            // Rows end at 32 bits.
            let stride = (area.width * format.bytesPerPixel + 3) & ~3
            if stored.count != stride * area.height { stored = [UInt8](repeating: 0, count: stride * area.height) }
            status = unsafe stored.withUnsafeMutableBytes { bytes in
                let status = unsafe upcast_x_grab(
                    handle, pixmap, &rectangle, 0, 0, bytes.baseAddress, bytes.count, &picture)
                if status == 0 {
                    unsafe conversion.convert(
                        UnsafeRawBufferPointer(bytes), stride: stride, width: area.width, height: area.height,
                        to: frame.bytes)
                }
                return status
            }
        } else {
            let bytes = unsafe frame.bytes
            status = unsafe upcast_x_grab(
                handle, pixmap, &rectangle, 0, 0, bytes.baseAddress, area.width * area.height * 4, &picture)
        }
        guard status == 0 else { throw status < 0 ? .lost : .notThere }
        return Moment(
            damage: hasDamage && pixmap == 0 ? Self.damage(picture) : nil,
            pointer: picture.is_pointer_here ? (Int(picture.pointer_x), Int(picture.pointer_y)) : nil,
            sequence: picture.sequence)
    }

    // MARK: Chosen windows

    /// A window in a picture that is put together of several.
    package struct Layer: Equatable, Sendable {
        /// The window, and the child of the root window that it is or is in.
        package var window: UInt32
        package var top: UInt32
        /// Where it is in the picture, without its border.
        package var place: CaptureRectangle

        package init(window: UInt32, top: UInt32, place: CaptureRectangle) {
            (self.window, self.top, self.place) = (window, top, place)
        }
    }

    package static let maxLayers = Int(UPCAST_X_MAX_LAYERS)

    /// Prepares for pictures of windows.
    ///
    /// - Throws: if the server cannot make them.
    package func beginComposition() throws(ScreenError) {
        guard unsafe upcast_x_begin_composition(handle) else {
            throw ScreenError(
                "the X server has no Composite or no RENDER extension, which pictures of one window need; leave out "
                    + "--window, or use --area")
        }
    }

    package func endComposition() { unsafe upcast_x_end_composition(handle) }

    /// Gets a picture of windows, the first one lowest, also where others cover them.
    ///
    /// - Parameters:
    ///   - layers: at most `maxLayers`.
    ///   - frame: as large as the picture.
    package func compose(
        _ layers: [Layer], width: Int, height: Int, into frame: CaptureFrame
    ) throws(GrabError) -> Moment {
        let list = layers.prefix(Self.maxLayers).map { layer in
            upcast_x_layer(
                window: layer.window, top: layer.top, x: Int32(layer.place.x), y: Int32(layer.place.y),
                width: UInt16(clamping: layer.place.width), height: UInt16(clamping: layer.place.height))
        }
        let pixmap = unsafe upcast_x_compose(handle, list, UInt32(list.count), UInt16(width), UInt16(height))
        return try grab(pixmap, CaptureRectangle(x: 0, y: 0, width: width, height: height), into: frame)
    }

    /// Where a window is in the root window, without its border; nil if it is gone.
    package func place(of window: UInt32) throws(GrabError) -> CaptureRectangle? {
        var (left, top, width, height): (Int32, Int32, UInt16, UInt16) = (0, 0, 0, 0)
        let status = unsafe upcast_x_window_place(handle, window, &left, &top, &width, &height)
        guard status >= 0 else { throw .lost }
        return status == 0
            ? CaptureRectangle(x: Int(left), y: Int(top), width: Int(width), height: Int(height)) : nil
    }

    private static func damage(_ picture: upcast_x_picture) -> [CaptureRectangle] {
        let count = Int(picture.damage_count)
        var damage = picture.damage
        return unsafe withUnsafeBytes(of: &damage) { bytes in
            let rectangles = unsafe bytes.bindMemory(to: upcast_x_rectangle.self)
            guard count <= rectangles.count else { return [rectangle(picture.damage_bounds)] }
            return unsafe rectangles.prefix(count).map { rectangle($0) }
        }
    }

    private static func rectangle(_ r: upcast_x_rectangle) -> CaptureRectangle {
        CaptureRectangle(x: Int(r.x), y: Int(r.y), width: Int(r.width), height: Int(r.height))
    }

    // MARK: Events

    /// The next thing that has happened; nil if nothing has.
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

    /// Takes what has happened.
    ///
    /// - Returns: whether there may be more: not all of a flood is taken at once, as other threads may have told
    ///   something.
    func takeEvents(_ take: (Event) throws -> Void) throws -> Bool {
        for _ in 0..<Self.eventsAtOnce {
            guard let event = try nextEvent() else { return false }
            try take(event)
        }
        return true
    }

    /// The next thing that had happened when a picture was made.
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
        case UPCAST_X_WINDOW_CAME: kind = .came(event.width > 0 ? Self.place(event) : nil)
        case UPCAST_X_WINDOW_WENT: kind = .went
        case UPCAST_X_WINDOW_MAPPED: kind = .mapped
        case UPCAST_X_WINDOW_UNMAPPED: kind = .unmapped
        case UPCAST_X_WINDOW_MOVED:
            kind = .moved(Self.place(event))
        case UPCAST_X_WINDOW_MOVED_INSIDE: kind = .movedInside
        case UPCAST_X_WINDOW_CHANGED: kind = .changed
        case UPCAST_X_DRAWN: return .drawn(Self.place(event))
        case UPCAST_X_ACTIVE_CHANGED: return .activeChanged
        default: return nil
        }
        return .window(WindowEvent(kind, event.window, sequence: event.sequence))
    }

    private static func place(_ event: upcast_x_event) -> CaptureRectangle {
        CaptureRectangle(x: Int(event.x), y: Int(event.y), width: Int(event.width), height: Int(event.height))
    }

    // MARK: Windows

    /// Reports window events from now on. Returns the windows that are there.
    ///
    /// - Throws: `GrabError.lost`; `ScreenError` for more windows than can be watched, of which one may be secret.
    package func watchWindows() throws -> [UInt32] {
        var windows = [UInt32](repeating: 0, count: Self.maxWindows)
        let count = unsafe Int(upcast_x_watch_windows(handle, &windows, windows.count))
        guard count >= 0 else { throw GrabError.lost }
        guard count <= windows.count else {
            throw ScreenError(
                "the display has \(count) windows; upcast-screen can hide secret ones among at most \(windows.count)")
        }
        return Array(windows.prefix(count))
    }

    /// Reports each thing that is drawn, in order with the events of windows, or no more. Needs DAMAGE.
    package func watchDrawing(_ isOn: Bool) { unsafe upcast_x_watch_drawing(handle, isOn) }

    /// The client window that is active; nil for none, or if no window manager tells.
    package func activeWindow() throws(GrabError) -> UInt32? {
        var window: UInt32 = 0
        guard unsafe upcast_x_active_window(handle, &window) == 0 else { throw .lost }
        return window == 0 ? nil : window
    }

    /// Makes the programs of all windows in an area of the root window draw it again. It is drawn later, by them.
    package func redraw(_ area: CaptureRectangle) {
        var area = upcast_x_rectangle(
            x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
            height: UInt16(clamping: area.height))
        unsafe upcast_x_redraw(handle, &area)
    }

    /// What is known of a window; nil if it is gone.
    package func facts(of window: UInt32) throws(GrabError) -> WindowFacts? {
        var facts = upcast_x_facts()
        let status = unsafe upcast_x_read_facts(handle, window, &facts)
        guard status >= 0 else { throw .lost }
        guard status == 0 else { return nil }
        return WindowFacts(
            place: CaptureRectangle(
                x: Int(facts.x), y: Int(facts.y), width: Int(facts.width), height: Int(facts.height)),
            isViewable: facts.is_viewable, isOverrideRedirect: facts.is_override_redirect, sequence: facts.sequence,
            names: try names(&facts), types: .init(rawValue: facts.types), secure: facts.secure,
            transientFor: facts.transient_for == 0 ? nil : facts.transient_for, client: facts.client,
            group: facts.group == 0 ? nil : facts.group, isTransientForGroup: facts.is_transient_for_group,
            isEmptyFrame: facts.is_empty_frame, hasUnseen: facts.has_unseen)
    }

    /// The client's, and those of all windows beside it and in it.
    private func names(_ facts: inout upcast_x_facts) throws(GrabError) -> [WindowNames] {
        let count = Int(facts.other_count)
        let others = unsafe withUnsafeBytes(of: &facts.others) { bytes in
            unsafe Array(bytes.bindMemory(to: UInt32.self).prefix(count))
        }
        // Windows of one X client are of one process.
        var processes = [facts.client_names.maker: facts.client_names.process]
        var all = [Self.names(&facts.client_names)]
        for window in others {
            var names = upcast_x_names()
            let status = unsafe upcast_x_read_names(handle, window, &names)
            guard status >= 0 else { throw .lost }
            // One that is gone has an event, which asks for all of this again.
            guard status == 0 else { continue }
            names.process = unsafe processes[names.maker] ?? upcast_x_process(handle, window)
            processes[names.maker] = names.process
            all.append(Self.names(&names))
        }
        return all
    }

    private static func names(_ names: inout upcast_x_names) -> WindowNames {
        WindowNames(
            window: names.window, instance: text(&names.instance), className: text(&names.class_name),
            title: text(&names.title), isCut: names.is_cut, process: names.process == 0 ? nil : names.process,
            maker: names.maker)
    }

    /// Up to the first 0.
    private static func text<Array>(_ array: inout Array) -> String {
        unsafe withUnsafeBytes(of: &array) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Reads the size of the root window again.
    package func refresh() throws(GrabError) {
        var (width, height): (UInt16, UInt16) = (0, 0)
        guard unsafe upcast_x_root_size(handle, &width, &height) == 0 else { throw .lost }
        (self.width, self.height) = (Int(width), Int(height))
    }

    // MARK: Pointer and monitors

    /// Where the pointer is; nil on another screen.
    package func pointer() throws(GrabError) -> (x: Int, y: Int)? {
        var (isHere, x, y) = (false, Int16(0), Int16(0))
        guard unsafe upcast_x_pointer(handle, &isHere, &x, &y) == 0 else { throw .lost }
        return isHere ? (Int(x), Int(y)) : nil
    }

    package func pointerImage() throws(GrabError) -> PointerImage {
        var pixels = [UInt32](repeating: 0, count: Self.maxPointerPixels)
        var (width, height, hotX, hotY): (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)
        let count = unsafe upcast_x_cursor(handle, &pixels, pixels.count, &width, &height, &hotX, &hotY)
        guard count >= 0 else { throw .lost }
        guard count > 0 else { return .none }
        return PointerImage(
            pixels: Array(pixels.prefix(Int(count))), width: Int(width), height: Int(height), hotX: Int(hotX),
            hotY: Int(hotY))
    }

    /// The monitors; none if the server does not name them.
    package func monitors() throws(GrabError) -> [ScreenMonitor] {
        var found = [upcast_x_monitor](repeating: upcast_x_monitor(), count: Self.maxMonitors)
        let count = unsafe upcast_x_monitors(handle, &found, found.count)
        guard count >= 0 else { throw .lost }
        return found.prefix(Int(count)).map { monitor in
            var name = monitor.name
            return ScreenMonitor(
                name: Self.text(&name),
                area: Self.rectangle(monitor.area), isPrimary: monitor.is_primary)
        }
    }
}
