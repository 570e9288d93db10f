internal import CWayland
internal import Glibc
package import Grabbing
internal import LinuxSystem
package import MediaCore
package import UpcastClient

/// A connection to a Wayland compositor that captures one of its outputs.
///
/// One thread at a time, except `detach`. The compositor writes pictures into the memory that the daemon reads
/// (wl_shm), and reports what has changed.
@safe package final class WaylandConnection: FrameWriter, @unchecked Sendable /* any thread: only `detached` */ {
    package enum Failure: Error {
        /// The compositor has ended.
        case lost
    }

    /// The protocol by which pictures are requested.
    package enum Means: Equatable, Sendable {
        /// ext-image-copy-capture-v1.
        case imageCopy
        /// wlr-screencopy-unstable-v1.
        case screencopy
    }

    /// The stages of a picture.
    package enum Stage: Equatable, Sendable { case idle, asked, described, copying, ready, failed }

    /// A picture in stage `ready`.
    package struct Picture: Equatable, Sendable {
        package var isUpsideDown = false
        /// Nil if the protocol does not report it. The output's transform then applies.
        package var transform: OutputTransform?
        /// A time on a clock that the protocol may leave undefined.
        package var stamp: MediaTime?
    }

    @safe private struct Buffer {
        let handle: OpaquePointer
        let format: WaylandFormat
    }

    /// Memory that the compositor has mapped, with the buffers that were made in it, by their offsets.
    @safe private struct Memory {
        let handle: OpaquePointer
        var buffers: [Int: Buffer] = [:]
    }

    private let handle: OpaquePointer
    private let name: String
    /// Memory that no frame uses any more, to be unmapped.
    private let detached = Monitor<[UInt32]>([])
    private var memories: [UInt32: Memory] = [:]
    private var lastMemory: UInt32 = 0
    /// Memory of this process, for frames outside shared memory, and for pictures from which a part is cut.
    private var own: (memory: OfferedMemory, number: UInt32)?
    private var outputsChange: UInt32?
    /// Is told when this thread waits for the compositor; nil if nobody watches.
    private let answers: AnswerWatch?
    /// When the compositor last answered, or gave a picture.
    private var heard: MediaTime
    private static let maxOutputs = 16

    /// Connects, and waits until the compositor has listed its globals and described its outputs.
    ///
    /// - Parameters:
    ///   - socket: nil for the socket that the environment names.
    ///   - answers: is told when this thread waits for the compositor, which may take forever.
    /// - Throws: an error that says what is missing, and how to get it.
    package init(socket: String?, answers: AnswerWatch? = nil) throws(ScreenError) {
        let session = unsafe getenv("WAYLAND_DISPLAY").map { unsafe String(cString: $0) }
        let name = socket ?? session ?? ""
        guard !name.isEmpty else {
            throw ScreenError("there is no Wayland compositor: WAYLAND_DISPLAY is not set. Name one, such as "
                + "--wayland wayland-1")
        }
        // Checked here, because libwayland would print a line of its own.
        let folder = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        guard name.hasPrefix("/") || folder.hasPrefix("/") else {
            throw ScreenError(
                "cannot connect to the Wayland compositor \(name): XDG_RUNTIME_DIR does not name the folder of the "
                    + "session, in which its socket is")
        }
        answers?.ask(now: MonotonicClock().now())
        var isLost = true
        defer { answers?.answered(isLost: isLost) }
        var error: CInt = 0
        guard let opened = unsafe name.withCString({ unsafe upcast_wl_open($0, &error) }) else {
            throw Self.failure(name, error)
        }
        unsafe handle = opened
        (self.name, self.answers) = (name, answers)
        heard = MonotonicClock().now()
        isLost = false
    }

    /// Why the compositor gives its clients no pictures; nil if it does.
    package var lack: String? {
        guard means(ofRegion: false) == nil else { return nil }
        let version = unsafe upcast_wl_screencopy_version(handle)
        let lack = version > 0
            ? "offers version \(version) of wlr-screencopy only, and 3 is needed"
            : "offers neither ext-image-copy-capture nor wlr-screencopy to its clients"
        return "the compositor of \(name) \(lack)"
    }

    deinit {
        for memory in memories.values { forget(memory) }
        unsafe upcast_wl_close(handle)
    }

    private static func failure(_ name: String, _ error: CInt) -> ScreenError {
        switch UInt32(bitPattern: error) {
        case UPCAST_WL_NO_LIBRARY.rawValue:
            ScreenError("the library libwayland-client is not installed; on Debian: apt-get install libwayland-client0")
        case UPCAST_WL_OLD_LIBRARY.rawValue:
            ScreenError("the library libwayland-client is too old; upcast-screen needs version 1.20 or newer")
        default:
            ScreenError(
                "cannot connect to the Wayland compositor \(name): none is there, this user may not use its socket, or "
                    + "XDG_RUNTIME_DIR is not the folder of the session" + (otherDisplay.map { "; \($0)" } ?? ""),
                isTemporary: true)
        }
    }

    /// An X11 session may have the WAYLAND_DISPLAY of an earlier session.
    private static var otherDisplay: String? {
        guard let display = unsafe getenv("DISPLAY").map({ unsafe String(cString: $0) }), !display.isEmpty else {
            return nil
        }
        return "in an X11 session, use --display \(display)"
    }

    // MARK: The connection

    /// For `poll`.
    package var descriptor: CInt { unsafe upcast_wl_descriptor(handle) }

    /// Reads the events that the compositor has sent.
    ///
    /// - Throws: `Failure.lost`; `ScreenError` if the compositor has refused a request.
    package func read() throws {
        let wasAsked = unsafe upcast_wl_has_question(handle)
        if unsafe upcast_wl_read(handle) {
            if wasAsked, unsafe !upcast_wl_has_question(handle) { hasAnswered() }
            return
        }
        var interface = [CChar](repeating: 0, count: 64)
        var code: UInt32 = 0
        guard unsafe upcast_wl_refusal(handle, &interface, interface.count, &code) else { throw Failure.lost }
        let name = String(decoding: interface.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        throw ScreenError("the compositor ended the connection: error \(code) of \(name)")
    }

    /// Waits for the events that the compositor has sent until now.
    ///
    /// - Throws: as `read`.
    package func catchUp() throws {
        answers?.ask(now: MonotonicClock().now())
        guard unsafe upcast_wl_catch_up(handle) else {
            answers?.answered(isLost: true)
            try read()
            throw Failure.lost
        }
        hasAnswered()
    }

    /// When to ask whether the compositor still answers; nil while a question is open.
    package var nextCheck: MediaTime? { unsafe upcast_wl_has_question(handle) ? nil : heard + AnswerWatch.rest }

    /// Asks a compositor that has been silent for long whether it still answers. Does not wait for the answer.
    package func check(now: MediaTime) {
        guard let nextCheck, nextCheck <= now else { return }
        unsafe upcast_wl_question(handle)
        answers?.ask(now: now)
    }

    private func hasAnswered() {
        heard = MonotonicClock().now()
        answers?.answered(isLost: false)
    }

    /// Stops watching for the answer.
    package func endCheck() { answers?.answered(isLost: true) }

    /// Sends the pending requests.
    ///
    /// - Returns: whether everything is sent. If not, call again when the descriptor is writable.
    package func flush() throws(Failure) -> Bool {
        let status = unsafe upcast_wl_flush(handle)
        guard status >= 0 else { throw .lost }
        return status == 0
    }

    /// The protocol by which the compositor gives pictures of outputs, or of regions of them; nil if it gives none.
    package func means(ofRegion: Bool) -> Means? {
        if !ofRegion, unsafe upcast_wl_has(handle, UPCAST_WL_IMAGE_COPY) { return .imageCopy }
        return unsafe upcast_wl_has(handle, UPCAST_WL_SCREENCOPY) ? .screencopy : nil
    }

    // MARK: Outputs

    package var outputs: WaylandOutputs {
        var found = [upcast_wl_output](repeating: upcast_wl_output(), count: Self.maxOutputs)
        let count = unsafe upcast_wl_outputs(handle, &found, found.count)
        return WaylandOutputs(
            known: found.prefix(count).map(Self.output), count: unsafe upcast_wl_output_count(handle),
            meetings: unsafe upcast_wl_meetings(handle))
    }

    /// Whether outputs have changed since the last call.
    package func outputsHaveChanged() -> Bool {
        let change = unsafe upcast_wl_outputs_change(handle)
        defer { outputsChange = change }
        return change != outputsChange
    }

    private static func output(_ output: upcast_wl_output) -> WaylandOutput {
        var name = output.name
        let text = unsafe withUnsafeBytes(of: &name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let transform = OutputTransform(rawValue: Int(output.transform)) ?? .normal
        var (width, height) = (Int(output.logical.width), Int(output.logical.height))
        if width <= 0 || height <= 0 {
            (width, height) = (Int(output.mode_width), Int(output.mode_height))
            if transform.exchangesSides { swap(&width, &height) }
        }
        return WaylandOutput(
            id: output.id, name: text.isEmpty ? "output-\(output.number)" : text,
            area: CaptureRectangle(x: Int(output.logical.x), y: Int(output.logical.y), width: width, height: height),
            width: Int(output.mode_width), height: Int(output.mode_height), transform: transform,
            isNamed: !text.isEmpty,
            refresh: output.refresh > 0 ? MediaTime(nanoseconds: 1_000_000_000_000 / Int64(output.refresh)) : nil)
    }

    // MARK: Memory

    package func attach(_ descriptor: CInt, byteCount: Int) -> UInt32? {
        guard let size = Int32(exactly: byteCount) else { return nil }
        answers?.ask(now: MonotonicClock().now())
        let memory = unsafe upcast_wl_attach(handle, descriptor, size)
        guard let memory = unsafe memory else {
            answers?.answered(isLost: true)
            return nil
        }
        hasAnswered()
        lastMemory += 1
        unsafe memories[lastMemory] = Memory(handle: memory)
        return lastMemory
    }

    package func detach(_ memory: UInt32) { detached.withLock { $0.append(memory) } }

    private func forgetDetached() {
        for number in detached.withLock({ numbers in
            defer { numbers = [] }
            return numbers
        }) {
            if let memory = memories.removeValue(forKey: number) { forget(memory) }
        }
    }

    private func forget(_ memory: Memory) {
        for buffer in memory.buffers.values { unsafe upcast_wl_drop_buffer(handle, buffer.handle) }
        unsafe upcast_wl_detach(handle, memory.handle)
    }

    /// The buffer in which the compositor writes a frame; nil if the connection is lost.
    private func buffer(for frame: CaptureFrame?, _ format: WaylandFormat) -> OpaquePointer? {
        guard let place = frame?.writerPlace ?? ownPlace(format) else { return nil }
        guard let memory = memories[place.memory] else { return nil }
        if let buffer = memory.buffers[place.offset] {
            if buffer.format == format { return unsafe buffer.handle }
            unsafe upcast_wl_drop_buffer(handle, buffer.handle)
            memories[place.memory]?.buffers[place.offset] = nil
        }
        guard
            let made = unsafe upcast_wl_make_buffer(
                handle, memory.handle, CInt(place.offset), CInt(format.width), CInt(format.height),
                CInt(format.width * 4), format.code)
        else { return nil }
        unsafe memories[place.memory]?.buffers[place.offset] = Buffer(handle: made, format: format)
        return unsafe made
    }

    /// Memory of this process, for a frame that goes through the socket, or a picture from which a part is cut.
    private func ownPlace(_ format: WaylandFormat) -> (memory: UInt32, offset: Int)? {
        let byteCount = format.width * format.height * 4
        if let own, own.memory.byteCount >= byteCount { return (own.number, 0) }
        if let own { detach(own.number) }
        own = nil
        var number: UInt32?
        guard
            let memory = try? OfferedMemory(
                name: "upcast-picture", byteCount: byteCount,
                prepare: { number = attach($0, byteCount: byteCount) }),
            let number
        else { return nil }
        own = (memory, number)
        return (number, 0)
    }

    // MARK: Pictures

    package var stage: Stage {
        switch unsafe upcast_wl_current(handle).stage {
        case UPCAST_WL_ASKED: .asked
        case UPCAST_WL_DESCRIBED: .described
        case UPCAST_WL_COPYING: .copying
        case UPCAST_WL_READY: .ready
        case UPCAST_WL_FAILED: .failed
        default: .idle
        }
    }

    /// Asks for a picture of an output.
    ///
    /// - Parameters:
    ///   - region: a part of the output, in logical pixels from its upper left corner as the user sees it. Needs
    ///     `screencopy`. On turned outputs, some compositors give another part (sway 1.7, Hyprland).
    package func ask(_ means: Means, _ output: WaylandOutput, pointer: Bool, region: CaptureRectangle?) {
        forgetDetached()
        let means = means == .imageCopy ? UPCAST_WL_IMAGE_COPY : UPCAST_WL_SCREENCOPY
        guard let region else { return unsafe upcast_wl_ask(handle, means, output.id, pointer, nil) }
        var rectangle = upcast_wl_rectangle(
            x: CInt(region.x), y: CInt(region.y), width: CInt(region.width), height: CInt(region.height))
        unsafe upcast_wl_ask(handle, means, output.id, pointer, &rectangle)
    }

    /// The format of the picture, in stage `described`.
    ///
    /// - Parameter isCut: only a part of it is sent.
    package func format(isCut: Bool) throws(ScreenError) -> WaylandFormat {
        let picture = unsafe upcast_wl_current(handle)
        return try WaylandFormat(
            code: picture.format, width: picture.width, height: picture.height, stride: picture.stride, isCut: isCut)
    }

    /// Lets the compositor write the picture into a frame, which must live until it has done so.
    ///
    /// - Parameters:
    ///   - frame: nil for memory of this process.
    ///   - waits: whether to wait for a change, as long as it takes.
    package func copy(into frame: CaptureFrame?, _ format: WaylandFormat, waits: Bool) throws(Failure) {
        guard let buffer = unsafe buffer(for: frame, format) else { throw .lost }
        unsafe upcast_wl_copy(handle, buffer, waits)
    }

    /// The properties of the picture, in stage `ready`.
    package func picture(now: MediaTime) -> Picture {
        heard = now
        let current = unsafe upcast_wl_current(handle)
        return Picture(
            isUpsideDown: current.is_upside_down, transform: OutputTransform(rawValue: Int(current.transform)),
            stamp: current.time >= 0 ? MediaTime(nanoseconds: current.time) : nil)
    }

    /// Copies a picture that lies in memory of this process into a frame, in stage `ready`.
    ///
    /// - Parameter part: within the picture; the frame has its size. Nil for all of it.
    package func fill(_ frame: CaptureFrame, _ format: WaylandFormat, part: CaptureRectangle?) {
        guard let own else { return }
        let part = part ?? CaptureRectangle(x: 0, y: 0, width: format.width, height: format.height)
        let (rowBytes, stride) = (part.width * 4, format.width * 4)
        for row in 0..<part.height {
            let start = (part.y + row) * stride + part.x * 4
            unsafe UnsafeMutableRawBufferPointer(rebasing: frame.bytes[(row * rowBytes)..<((row + 1) * rowBytes)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: own.memory.bytes[start..<start + rowBytes]))
        }
    }

    /// Notes the damage since the picture before, in stage `ready`. If the compositor has not reported it, everything
    /// counts.
    ///
    /// - Parameter part: what is sent of the picture; nil for all of it.
    package func note(in damage: inout DamageList, of part: CaptureRectangle?) {
        let current = unsafe upcast_wl_current(handle)
        guard current.damage_count > 0 else { return damage.noteAll() }
        unsafe withUnsafeBytes(of: current.damage) { bytes in
            let places = unsafe bytes.bindMemory(to: upcast_wl_rectangle.self)
            for unsafe place in unsafe places.prefix(Int(current.damage_count)) {
                let place = CaptureRectangle(
                    x: Int(place.x), y: Int(place.y), width: Int(place.width), height: Int(place.height))
                if let part { damage.note(place, in: part) } else { damage.note(place) }
            }
        }
    }

    /// Forgets the picture.
    package func endPicture() { unsafe upcast_wl_end_picture(handle) }

    /// Forgets the picture, the output, and the memory of this process.
    package func endSession() {
        unsafe upcast_wl_end_session(handle)
        if let own { detach(own.number) }
        own = nil
        forgetDetached()
    }
}
