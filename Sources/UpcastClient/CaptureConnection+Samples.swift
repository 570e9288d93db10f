internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// Sending frames and sound. Any thread; a send blocks until the daemon has read it.
extension CaptureConnection {
    /// Sends a frame that is contiguous in memory.
    ///
    /// - Parameters:
    ///   - payload: at least `format.payloadBytes` bytes, one plane after the other.
    ///   - format: how the frame is stored.
    ///   - pts: the presentation timestamp, since the zero of the client's clock.
    ///   - orientation: how to turn the frame upright; nil counts as `up`.
    ///   - secure: the parts of the frame that must not be shown.
    ///   - damage: the parts that may differ from the frame that was sent last, if the caller knows them. If this is
    ///     nil and shared memory is used, the two frames are compared.
    /// - Throws: `invalidArgument` for a frame that the daemon does not take; nothing was sent.
    public func sendVideo(
        _ payload: RawSpan, format: CaptureVideoFormat, at pts: Duration, orientation: CaptureOrientation? = nil,
        secure: CaptureSecureRegions = .none, damage: CaptureDamage? = nil
    ) throws(CaptureError) {
        try unsafe payload.withUnsafeBytes { bytes throws(CaptureError) in
            try unsafe sendVideo(format.layout, PayloadPieces(first: bytes), pts, orientation, secure, damage)
        }
    }

    /// Sends a frame whose planes lie in separate memory, without copying them together.
    ///
    /// Each plane has `rows * stride` bytes, with the format's strides. The last row's padding may be missing.
    /// - Throws: `invalidArgument` for a frame that the daemon does not take; nothing was sent.
    @unsafe public func sendVideo(
        plane0: UnsafeRawBufferPointer, plane1: UnsafeRawBufferPointer? = nil, plane2: UnsafeRawBufferPointer? = nil,
        format: CaptureVideoFormat, at pts: Duration, orientation: CaptureOrientation? = nil,
        secure: CaptureSecureRegions = .none, damage: CaptureDamage? = nil
    ) throws(CaptureError) {
        let layout = format.gathered
        let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        var pieces = unsafe PayloadPieces(first: plane0, second: plane1 ?? none, third: plane2 ?? none)
        for index in 0..<3 {
            let wanted = index < layout.pixelFormat.planeCount ? layout.planeBytes(index) : 0
            let plane = unsafe pieces[index]
            guard plane.count >= wanted else {
                throw CaptureError(
                    .invalidArgument,
                    "plane \(index) of \(layout.pixelFormat.fourCC) needs \(wanted) bytes; \(plane.count) are there")
            }
            unsafe pieces[index] = UnsafeRawBufferPointer(rebasing: plane[..<wanted])
        }
        try sendVideo(layout, pieces, pts, orientation, secure, damage)
    }

    private func sendVideo(
        _ layout: VideoSampleFormat, _ pieces: PayloadPieces, _ pts: Duration, _ orientation: CaptureOrientation?,
        _ secure: CaptureSecureRegions, _ damage: CaptureDamage?
    ) throws(CaptureError) {
        try check(layout, pieces.byteCount)
        var message = try Self.message(layout, pts, orientation, secure)
        if isUnchanged(pieces, &message, damage) { return try sendUnchanged(message) }
        if let place = try place(pieces.byteCount) {
            copy(pieces, to: place)
            return try send(message, in: place)
        }
        try send(message, pieces)
    }

    private func copy(_ pieces: PayloadPieces, to place: FramePool.Place) {
        var end = 0
        for index in 0..<3 {
            let piece = unsafe pieces[index]
            guard unsafe !piece.isEmpty else { continue }
            unsafe UnsafeMutableRawBufferPointer(rebasing: place.bytes[end...]).copyMemory(from: piece)
            end += piece.count
        }
    }

    /// Sends a frame from memory of which a part may go away while it is read. Nothing is sent before `check` has
    /// confirmed that all of it was there.
    ///
    /// - Parameters: as for `sendVideo(_:format:at:orientation:secure:damage:)`.
    /// - Throws: what `check` throws, or a `CaptureError`.
    package func sendVideo(
        copying bytes: UnsafeRawBufferPointer, format: CaptureVideoFormat, at pts: Duration,
        orientation: CaptureOrientation?, secure: CaptureSecureRegions, check: () throws -> Void
    ) throws {
        let pieces = unsafe PayloadPieces(first: bytes)
        try self.check(format.layout, pieces.byteCount)
        var message = try Self.message(format.layout, pts, orientation, secure)
        if isUnchanged(pieces, &message, nil) {
            try check()
            return try sendUnchanged(message)
        }
        if let place = try place(pieces.byteCount) {
            copy(pieces, to: place)
            do {
                try check()
            } catch {
                pool.giveBack(place)
                throw error
            }
            return try send(message, in: place)
        }
        let buffer = pool.buffer(pieces.byteCount)
        defer { pool.keep(buffer) }
        unsafe buffer.bytes.copyMemory(from: bytes)
        try check()
        try unsafe send(
            message, PayloadPieces(first: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<pieces.byteCount])))
    }

    /// Room for a frame. Fill it, and pass it to `send(_:at:orientation:secure:damage:)`. If the daemon reads this
    /// client's memory, nothing is copied. Any thread.
    ///
    /// - Throws: `invalidArgument` for a format that the daemon does not take.
    public func frame(_ format: CaptureVideoFormat) throws(CaptureError) -> CaptureFrame {
        let byteCount = format.payloadBytes
        try check(format.layout, byteCount)
        if let place = try place(byteCount) { return CaptureFrame(format, .shared(place), pool) }
        return CaptureFrame(format, .own(pool.buffer(byteCount)), pool)
    }

    /// Room for a frame that another process fills.
    ///
    /// - Parameter old: a finished frame that nobody else has, to be reused without an allocation.
    /// - Returns: nil while the daemon reads all frames that there is room for, until it releases one.
    /// - Throws: `invalidArgument` for a format that the daemon does not take.
    package func frame(
        _ format: CaptureVideoFormat, filledBy writer: any FrameWriter, reusing old: CaptureFrame? = nil
    ) throws(CaptureError) -> CaptureFrame? {
        let byteCount = format.payloadBytes
        try check(format.layout, byteCount)
        if let place = try place(byteCount, writer) {
            guard let old, old.isDone, old.isOf(pool) else { return CaptureFrame(format, .shared(place), pool) }
            old.become(format, place)
            return old
        }
        if sharesMemory, byteCount >= Self.leastShared, pool.offer != nil { return nil }
        return CaptureFrame(format, .own(pool.buffer(byteCount)), pool)
    }

    /// Sends a filled frame. A frame is sent once.
    ///
    /// - Parameters: as for `sendVideo(_:format:at:orientation:secure:damage:)`.
    public func send(
        _ frame: CaptureFrame, at pts: Duration, orientation: CaptureOrientation? = nil,
        secure: CaptureSecureRegions = .none, damage: CaptureDamage? = nil
    ) throws(CaptureError) {
        precondition(!frame.isSent, "a frame is sent once")
        var message = try Self.message(frame.format.layout, pts, orientation, secure)
        let pieces = unsafe PayloadPieces(first: UnsafeRawBufferPointer(frame.bytes))
        if isUnchanged(pieces, &message, damage) {
            frame.settle()
            return try sendUnchanged(message)
        }
        switch frame.memory {
        case .shared(let place):
            frame.isSent = true
            try send(message, in: place)
        case .own: try send(message, pieces)
        }
    }

    private func check(_ layout: VideoSampleFormat, _ byteCount: Int) throws(CaptureError) {
        let limits = limits.withLock { $0 }
        do {
            try layout.check(payloadBytes: byteCount, limits: limits)
        } catch {
            throw CaptureError(error)
        }
        guard byteCount <= limits.maxVideoPayload else {
            throw CaptureError(
                .invalidArgument,
                "a frame of \(byteCount) bytes; the daemon takes at most \(limits.maxVideoPayload)")
        }
    }

    private static func message(
        _ layout: VideoSampleFormat, _ pts: Duration, _ orientation: CaptureOrientation?, _ secure: CaptureSecureRegions
    ) throws(CaptureError) -> VideoMessage {
        var message = VideoMessage(
            pts: try MediaTime(timestamp: pts), format: layout, orientationRaw: orientation?.rawValue ?? 0)
        message.regions = try secure.regions(width: layout.width, height: layout.height)
        return message
    }

    private func sendUnchanged(_ message: VideoMessage) throws(CaptureError) {
        var message = message
        message.isUnchanged = true
        try reportingEnd { () throws(CaptureError) in
            try sender.send(.video) { message.encode(sequence: $0, payloadBytes: 0, into: &$1) }
        }
    }

    private func send(_ message: VideoMessage, in place: FramePool.Place) throws(CaptureError) {
        var message = message
        message.shared = place.shared
        var sequence: UInt32?
        defer { pool.sent(place, as: sequence, message.kind) }
        try reportingEnd { () throws(CaptureError) in
            sequence = try sender.send(.video) { message.encode(sequence: $0, payloadBytes: 0, into: &$1) }
        }
    }

    private func send(_ message: VideoMessage, _ pieces: PayloadPieces) throws(CaptureError) {
        pool.forgetLatest()
        var message = message
        message.damage = nil
        try reportingEnd { [message] () throws(CaptureError) in
            try sender.send(.video, payload: pieces) {
                message.encode(sequence: $0, payloadBytes: pieces.byteCount, into: &$1)
            }
        }
    }

    /// Whether the daemon has exactly this picture. Then the daemon is told so, and nothing is copied. Otherwise the
    /// message gets the picture's damage, if that is known.
    private func isUnchanged(_ pieces: PayloadPieces, _ message: inout VideoMessage, _ damage: CaptureDamage?) -> Bool {
        guard sharesMemory, pieces.byteCount >= Self.leastShared, pool.offer != nil else { return false }
        receiver.glance()
        switch pool.difference(of: pieces, message.kind, known: damage) {
        case .none: return true
        case .some(let field): message.damage = field
        case .all: break
        }
        return false
    }

    /// Smaller pictures are written to the socket: shared memory would save less than the daemon's answer costs.
    private static let leastShared = 64 * 1024

    /// A place in memory that the daemon reads; nil if there is none, and the picture has to be written to the socket.
    private func place(
        _ byteCount: Int, _ writer: (any FrameWriter)? = nil
    ) throws(CaptureError) -> FramePool.Place? {
        guard sharesMemory, byteCount >= Self.leastShared, pool.offer != nil else { return nil }
        receiver.glance()
        var place: FramePool.Place?
        try reportingEnd { () throws(CaptureError) in
            place = try pool.acquire(byteCount, writer: writer) { memory, message throws(CaptureError) in
                try sender.send(.sharedMemory, with: memory) { message.encode(sequence: $0, into: &$1) }
            }
        }
        return place
    }

    /// Sends a piece of PCM, ideally 10 to 100 ms.
    ///
    /// - Parameters:
    ///   - source: which of the two sound inputs the PCM belongs to.
    ///   - payload: whole frames, at most 512 KiB.
    ///   - format: how the PCM is stored.
    ///   - pts: when the first frame plays, by the clock that the video uses.
    /// - Throws: `invalidArgument` for PCM that the daemon does not take; nothing was sent.
    public func sendAudio(
        _ source: CaptureAudioSource, _ payload: RawSpan, format: CaptureAudioFormat, at pts: Duration
    ) throws(CaptureError) {
        let maxBytes = limits.withLock { $0.maxAudioPayload }
        let bytes = payload.byteCount
        guard bytes > 0, bytes % format.bytesPerFrame == 0, bytes <= maxBytes else {
            throw CaptureError(
                .invalidArgument,
                "\(bytes) bytes of PCM; a sample has whole frames of \(format.bytesPerFrame) bytes and at most "
                    + "\(maxBytes) bytes")
        }
        let message = AudioMessage(
            pts: try MediaTime(timestamp: pts), format: format.format, frames: bytes / format.bytesPerFrame)
        try unsafe payload.withUnsafeBytes { bytes throws(CaptureError) in
            try reportingEnd { () throws(CaptureError) in
                try unsafe sender.send(source == .app ? .audioApp : .audioMic, payload: PayloadPieces(first: bytes)) {
                    message.encode(source.source, sequence: $0, into: &$1)
                }
            }
        }
    }
}

extension VideoMessage {
    fileprivate var kind: FramePool.Kind {
        FramePool.Kind(format: format, orientation: orientationRaw, regions: regions)
    }
}

extension MediaTime {
    /// A presentation timestamp of the caller's clock; fractions of a nanosecond are cut off.
    fileprivate init(timestamp: Duration) throws(CaptureError) {
        let (seconds, attoseconds) = timestamp.components
        let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let sum = whole.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !whole.overflow, !sum.overflow else {
            throw CaptureError(
                .invalidArgument, "a presentation timestamp of \(seconds) s; 292 years either way are taken")
        }
        self.init(nanoseconds: sum.partialValue)
    }
}
