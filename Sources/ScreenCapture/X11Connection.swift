internal import CXCB
internal import Glibc
package import Grabbing
internal import LinuxSystem
internal import MediaCore
package import UpcastClient

/// A connection to the X server whose root window is captured.
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
        /// A device moves the pointer; reported after `watchMotion(true)`.
        case pointerMoved
        case window(WindowEvent)
        /// Another window is active, as the window manager says.
        case activeChanged
        /// The compositing manager has taken the keyboard, or given it back.
        case overlayFocusChanged
        /// A compositing manager has come or gone.
        case composited(Bool)
        /// The window manager shows another virtual desktop, or hides all windows, or shows them again.
        case desktopChanged
    }

    /// The state at the moment of a picture.
    package struct Moment: Sendable {
        /// In pixels of the root window; nil if the pointer is on another screen.
        package var pointer: (x: Int, y: Int)?
        /// Events with a lower number are in the picture, and no others.
        package var sequence: UInt32 = 0
    }

    package enum GrabError: Error {
        /// The area does not exist any more: the screen is changing.
        case notThere
        /// The server has ended.
        case lost
    }

    package let format: ScreenFormat
    package let hasDamage: Bool
    package let hasPointer: Bool
    /// Whether the server can report that the pointer moves.
    package let reportsMotion: Bool
    /// Whether the server can write to the memory of this process.
    package let sharesMemory: Bool
    /// The size of the root window, in pixels.
    package private(set) var width: Int
    package private(set) var height: Int

    let handle: OpaquePointer
    /// Is told when this thread waits for the server; nil for nobody.
    private let answers: AnswerWatch?
    let clock = MonotonicClock()
    /// When the server has answered last.
    private var heard: MediaTime
    private var slowestAnswer = MediaTime.zero
    /// The number of consecutive readings of windows without a result.
    var disturbedReadings = 0
    /// Segments that no frame uses any more.
    private let detached = Monitor<[UInt32]>([])
    /// What has changed between the last two pictures of the screen.
    private(set) var painted = PaintedAreas([])
    /// The server's pixels before their conversion.
    private var stored: [UInt8] = []
    private static let maxPointerPixels = 256 * 256
    private static let maxMonitors = 16

    /// The name of the display that is captured; empty for none.
    ///
    /// - Parameter display: nil for `$DISPLAY`.
    package static func name(_ display: String?) -> String {
        let session = unsafe getenv("DISPLAY").map { unsafe String(cString: $0) }
        return display ?? session ?? ""
    }

    /// - Parameters:
    ///   - display: nil for `$DISPLAY`.
    ///   - answers: is told when this thread waits for the server, which may take for ever.
    /// - Throws: what is missing, and how to get it.
    package init(display: String?, answers: AnswerWatch? = nil) throws(ScreenError) {
        let name = Self.name(display)
        guard !name.isEmpty else {
            throw ScreenError(
                "there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set. Name one, such as --display :0 or "
                    + "--wayland wayland-1")
        }
        answers?.ask(now: clock.now())
        var isLost = true
        defer { answers?.answered(isLost: isLost) }
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
        self.answers = answers
        heard = clock.now()
        isLost = false
        hasDamage = screen.has_damage
        hasPointer = screen.has_fixes
        reportsMotion = screen.reports_motion
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

    // MARK: Answers

    /// Runs a call that waits for the server.
    func ask<Answer>(_ call: () -> Answer) -> Answer {
        let asked = clock.now()
        answers?.ask(now: asked)
        defer {
            heard = clock.now()
            slowestAnswer = max(slowestAnswer, heard - asked)
            answers?.answered(isLost: unsafe upcast_x_is_lost(handle))
        }
        return call()
    }

    /// The longest time that the server has taken for an answer since this was called last.
    func takeSlowestAnswer() -> MediaTime {
        defer { slowestAnswer = .zero }
        return slowestAnswer
    }

    /// When to ask whether the server is still there.
    var nextCheck: MediaTime { heard + AnswerWatch.rest }

    /// Asks a server that was not asked for long: a still screen and a server that hangs look the same.
    ///
    /// - Returns: whether it was asked. Events may have come with the answer.
    func check(now: MediaTime) throws(GrabError) -> Bool {
        guard now >= nextCheck else { return false }
        _ = try pointer()
        return true
    }

    /// For `poll`.
    package var descriptor: CInt { unsafe upcast_x_descriptor(handle) }

    // MARK: Frames

    package func attach(_ descriptor: CInt, byteCount: Int) -> UInt32? {
        guard sharesMemory, format.conversion == nil else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        var segment: UInt32 = 0
        return ask { unsafe upcast_x_attach(handle, copy, &segment) } == 0 ? segment : nil
    }

    package func detach(_ memory: UInt32) { detached.withLock { $0.append(memory) } }

    /// Makes the server unmap the memory of released frames.
    func detachUnused() {
        let segments = detached.withLock { segments in
            defer { segments = [] }
            return segments
        }
        for segment in segments { unsafe upcast_x_detach(handle, segment) }
    }

    /// Gets a picture of a part of the root window.
    ///
    /// - Parameters:
    ///   - area: within the root window.
    ///   - frame: gets the picture, which the server or this process writes.
    ///   - damage: gets what has changed since the last picture, in pixels of this one.
    package func grab(
        _ area: CaptureRectangle, into frame: CaptureFrame, damage: inout DamageList
    ) throws(GrabError) -> Moment {
        var picture = upcast_x_picture()
        let moment = try grab(0, area, into: frame, &picture)
        painted.areas.removeAll(keepingCapacity: true)
        painted.bounds = nil
        if hasDamage { note(&picture, &damage, area) } else { damage.noteAll() }
        return moment
    }

    /// - Parameter pixmap: 0 for the root window.
    func grab(
        _ pixmap: UInt32, _ area: CaptureRectangle, into frame: CaptureFrame, _ picture: inout upcast_x_picture
    ) throws(GrabError) -> Moment {
        detachUnused()
        var rectangle = upcast_x_rectangle(
            x: Int16(area.x), y: Int16(area.y), width: UInt16(area.width), height: UInt16(area.height))
        let status: CInt
        if let place = frame.writerPlace {
            status = ask {
                unsafe upcast_x_grab(handle, pixmap, &rectangle, place.memory, UInt32(place.offset), nil, 0, &picture)
            }
        } else if let conversion = format.conversion {
            // Rows are padded to 32 bits.
            let stride = (area.width * format.bytesPerPixel + 3) & ~3
            if stored.count != stride * area.height { stored = [UInt8](repeating: 0, count: stride * area.height) }
            status = unsafe stored.withUnsafeMutableBytes { bytes in
                let status = ask {
                    unsafe upcast_x_grab(handle, pixmap, &rectangle, 0, 0, bytes.baseAddress, bytes.count, &picture)
                }
                if status == 0 {
                    unsafe conversion.convert(
                        UnsafeRawBufferPointer(bytes), stride: stride, width: area.width, height: area.height,
                        to: frame.bytes)
                }
                return status
            }
        } else {
            let (bytes, count) = unsafe (frame.bytes, area.width * area.height * 4)
            status = ask {
                unsafe upcast_x_grab(handle, pixmap, &rectangle, 0, 0, bytes.baseAddress, count, &picture)
            }
        }
        guard status == 0 else { throw status < 0 ? .lost : .notThere }
        return Moment(
            pointer: picture.is_pointer_here ? (Int(picture.pointer_x), Int(picture.pointer_y)) : nil,
            sequence: picture.sequence)
    }

    private func note(_ picture: inout upcast_x_picture, _ damage: inout DamageList, _ area: CaptureRectangle) {
        let (count, bounds) = (Int(picture.damage_count), Self.rectangle(picture.damage_bounds))
        unsafe withUnsafeBytes(of: &picture.damage) { bytes in
            let rectangles = unsafe bytes.bindMemory(to: upcast_x_rectangle.self)
            for index in 0..<min(count, rectangles.count) {
                unsafe painted.areas.append(Self.rectangle(rectangles[index]))
            }
            guard count <= rectangles.count else {
                painted.bounds = bounds
                return damage.note(bounds, in: area)
            }
            for rectangle in painted.areas { damage.note(rectangle, in: area) }
        }
    }

    private static func rectangle(_ r: upcast_x_rectangle) -> CaptureRectangle {
        CaptureRectangle(x: Int(r.x), y: Int(r.y), width: Int(r.width), height: Int(r.height))
    }

    /// The text up to the first 0.
    static func text<Array>(_ array: inout Array) -> String {
        unsafe withUnsafeBytes(of: &array) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Reads the size of the root window again.
    package func refresh() throws(GrabError) {
        var (width, height): (UInt16, UInt16) = (0, 0)
        guard ask({ unsafe upcast_x_root_size(handle, &width, &height) }) == 0 else { throw .lost }
        (self.width, self.height) = (Int(width), Int(height))
    }

    // MARK: Pointer and monitors

    /// Starts or stops reports of each motion of the pointer by a device.
    package func watchMotion(_ isOn: Bool) { unsafe upcast_x_watch_motion(handle, isOn) }

    /// Where the pointer is; nil on another screen.
    package func pointer() throws(GrabError) -> (x: Int, y: Int)? {
        var (isHere, x, y) = (false, Int16(0), Int16(0))
        guard ask({ unsafe upcast_x_pointer(handle, &isHere, &x, &y) }) == 0 else { throw .lost }
        return isHere ? (Int(x), Int(y)) : nil
    }

    /// The pointer's shape, and whether it has a name. Nil if the server hides the shape, as the program that made it
    /// has ended, or if the shape is too large.
    package func pointerImage() throws(GrabError) -> (image: PointerImage, isNamed: Bool)? {
        var pixels = [UInt32](repeating: 0, count: Self.maxPointerPixels)
        var (width, height, hotX, hotY): (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)
        var isNamed = false
        let count = ask {
            unsafe upcast_x_cursor(handle, &pixels, Self.maxPointerPixels, &width, &height, &hotX, &hotY, &isNamed)
        }
        if count == UPCAST_X_CURSOR_LOST { throw .lost }
        if count == UPCAST_X_CURSOR_UNKNOWN { return nil }
        guard count > 0 else { return (.none, false) }
        let image = PointerImage(
            pixels: Array(pixels.prefix(Int(count))), width: Int(width), height: Int(height), hotX: Int(hotX),
            hotY: Int(hotY))
        return (image, isNamed)
    }

    /// The monitors; none if the server does not name them.
    package func monitors() throws(GrabError) -> [ScreenMonitor] {
        var found = [upcast_x_monitor](repeating: upcast_x_monitor(), count: Self.maxMonitors)
        let count = ask { unsafe upcast_x_monitors(handle, &found, Self.maxMonitors) }
        guard count >= 0 else { throw .lost }
        return found.prefix(Int(count)).map { monitor in
            var name = monitor.name
            return ScreenMonitor(
                name: Self.text(&name),
                area: Self.rectangle(monitor.area), isPrimary: monitor.is_primary)
        }
    }
}
