internal import CPipeWire
internal import Glibc
internal import Grabbing
internal import MediaCore
internal import UpcastClient

/// A stream of pictures from PipeWire. One thread at a time.
@safe final class PipeWireStream {
    /// A buffer that was taken from the stream, until it is given back.
    struct Buffer {
        fileprivate let number: UInt32
        /// False for a buffer that only moves the pointer.
        let hasPicture: Bool
        let claim: StreamPicture.Claim
        let transform: Int
        /// When the picture was shown, on the sender's clock.
        let stamp: MediaTime?
        let sequence: UInt64
        /// In pixels of the sender's picture; nil if the sender does not report damage.
        let damage: [CaptureRectangle]?
        let pointer: Pointer?
        /// Whether the buffer should have had a picture, which was lost.
        let isLost: Bool
        /// Whether PipeWire has lost buffers before this one.
        let followsLoss: Bool
    }

    /// What a buffer reports about the pointer.
    struct Pointer {
        /// Nil while the pointer is hidden.
        var place: (x: Int, y: Int)?
        /// Nil if the shape has not changed.
        var shape: PointerImage?
    }

    enum Stage { case connecting, paused, streaming, ended }

    private let handle: OpaquePointer
    private var isActive = true

    /// - Parameters:
    ///   - remote: a connection, which the stream owns from here on.
    ///   - pointer: whether the sender reports the pointer separately from the pictures.
    /// - Throws: what is missing, and how to get it.
    init(remote: CInt, node: UInt32, rate: FrameRate, pointer: Bool) throws(ScreenError) {
        var error: CInt = 0
        guard
            let opened = unsafe upcast_pipewire_open(
                remote, node, UInt32(rate.numerator), UInt32(rate.denominator), pointer, &error)
        else { throw Self.failure(error) }
        unsafe handle = opened
    }

    deinit { unsafe upcast_pipewire_close(handle) }

    private static func failure(_ error: CInt) -> ScreenError {
        switch UInt32(bitPattern: error) {
        case UPCAST_PIPEWIRE_NO_LIBRARY.rawValue:
            ScreenError(
                "the library libpipewire, which brings the pictures of a shared screen, is not installed; on Debian: "
                    + "apt-get install libpipewire-0.3-0 libpipewire-0.3-modules")
        case UPCAST_PIPEWIRE_NO_SERVER.rawValue:
            ScreenError("cannot connect to PipeWire; it must run for this user, with libpipewire-0.3-modules installed",
                isTemporary: true)
        default: ScreenError("there is no memory for a stream of PipeWire's")
        }
    }

    /// Binds the stream to the calling thread until `leave`.
    func enter() { unsafe upcast_pipewire_enter(handle) }
    func leave() { unsafe upcast_pipewire_leave(handle) }

    /// For `poll`.
    var descriptor: CInt { unsafe upcast_pipewire_descriptor(handle) }

    /// Handles what has arrived.
    func process() { unsafe upcast_pipewire_process(handle) }

    var stage: Stage {
        switch unsafe upcast_pipewire_look(handle).pointee.stage {
        case UPCAST_PIPEWIRE_CONNECTING: .connecting
        case UPCAST_PIPEWIRE_PAUSED: .paused
        case UPCAST_PIPEWIRE_STREAMING: .streaming
        default: .ended
        }
    }

    /// How often the sender has begun to stream, or changed the format; wraps around.
    var starts: UInt32 { unsafe upcast_pipewire_look(handle).pointee.starts }

    /// Whether the captured node has gone, or the stream has ended.
    var hasEnded: Bool { unsafe stage == .ended || upcast_pipewire_look(handle).pointee.is_gone }

    /// Whether PipeWire itself has ended, and the captured node was there until then.
    var isServerGone: Bool { unsafe upcast_pipewire_look(handle).pointee.is_server_gone }

    /// Whether the stream has ended before the sender began to stream, although PipeWire and the node are still there.
    var isRefused: Bool {
        let isGone = unsafe upcast_pipewire_look(handle).pointee.is_gone
        return stage == .ended && !isGone && starts == 0
    }

    /// The error text of PipeWire.
    var error: String { unsafe text(upcast_pipewire_look(handle).pointee.error) }

    /// Lets the sender pause or continue.
    func activate(_ isActive: Bool) {
        guard isActive != self.isActive else { return }
        self.isActive = isActive
        unsafe upcast_pipewire_set_active(handle, isActive)
    }

    /// Makes the sender start again. It then sends the whole picture.
    func askAgain() {
        guard isActive else { return }
        unsafe upcast_pipewire_set_active(handle, false)
        unsafe upcast_pipewire_set_active(handle, true)
    }

    // MARK: Buffers

    /// The next buffer; nil for none.
    func take() -> Buffer? {
        var picture = upcast_pipewire_picture()
        guard unsafe upcast_pipewire_take(handle, &picture) else { return nil }
        return Buffer(picture, picture.has_pointer ? pointer(of: picture) : nil)
    }

    func giveBack(_ buffer: Buffer) { unsafe upcast_pipewire_give_back(handle, buffer.number) }

    /// The memory of a buffer that has a picture; nil if the sender has taken it away.
    func memory(of buffer: Buffer) -> UnsafeRawBufferPointer? {
        guard let memory = unsafe upcast_pipewire_memory(handle, buffer.number) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: memory, count: buffer.claim.byteCount)
    }

    private func pointer(of picture: upcast_pipewire_picture) -> Pointer {
        var pointer = Pointer()
        if picture.is_pointer_visible { pointer.place = (Int(picture.pointer_x), Int(picture.pointer_y)) }
        guard picture.has_shape else { return pointer }
        let shape = picture.shape
        guard let memory = unsafe upcast_pipewire_shape_memory(handle, picture.number) else {
            pointer.shape = PointerImage.none
            return pointer
        }
        let (width, height, stride) = (Int(shape.width), Int(shape.height), Int(shape.stride))
        let positions: (red: Int, green: Int, blue: Int, opacity: Int) =
            switch shape.format {
            case UPCAST_PIPEWIRE_RGBX: (0, 1, 2, 3)
            case UPCAST_PIPEWIRE_XRGB: (1, 2, 3, 0)
            case UPCAST_PIPEWIRE_XBGR: (3, 2, 1, 0)
            default: (2, 1, 0, 3)
            }
        pointer.shape = unsafe PointerImage(
            bytes: UnsafeRawBufferPointer(start: memory, count: stride * (height - 1) + width * 4), width: width,
            height: height, stride: stride, hotX: Int(shape.hot_x), hotY: Int(shape.hot_y), positions: positions)
        return pointer
    }
}

extension PipeWireStream.Buffer {
    fileprivate init(_ picture: upcast_pipewire_picture, _ pointer: PipeWireStream.Pointer?) {
        number = picture.number
        hasPicture = picture.has_picture
        var claim = StreamPicture.Claim()
        claim.pixelFormat = PixelFormat(picture.format)
        (claim.width, claim.height) = (Int(picture.width), Int(picture.height))
        (claim.stride, claim.offset) = (Int(picture.stride), Int(picture.offset))
        claim.byteCount = Int(picture.byte_count)
        if picture.crop.width > 0, picture.crop.height > 0 { claim.crop = CaptureRectangle(picture.crop) }
        self.claim = claim
        transform = Int(picture.transform)
        stamp = picture.time >= 0 ? MediaTime(nanoseconds: picture.time) : nil
        sequence = picture.sequence
        isLost = picture.is_lost
        followsLoss = picture.follows_loss
        if picture.damage_count > 0 {
            var damage = picture.damage
            self.damage = unsafe withUnsafeBytes(of: &damage) { bytes in
                unsafe bytes.bindMemory(to: upcast_pipewire_rectangle.self).prefix(Int(picture.damage_count)).map {
                    CaptureRectangle($0)
                }
            }
        } else {
            damage = nil
        }
        self.pointer = pointer
    }
}

extension CaptureRectangle {
    fileprivate init(_ rectangle: upcast_pipewire_rectangle) {
        self.init(
            x: Int(rectangle.x), y: Int(rectangle.y), width: Int(rectangle.width), height: Int(rectangle.height))
    }
}
