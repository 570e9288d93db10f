internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// One client's connection: reads messages from a non-blocking socket, piece by piece, and drives the consumer.
///
/// Ingest thread only. Owns the socket, 4 KiB for a message's head and 64 KiB to skip into; payloads go straight to
/// where the consumer wants them. It never waits: `readable` reads until the socket is empty or the budget is spent.
@safe final class IngestSession {
    enum Outcome: Equatable {
        case more
        /// The client's side of the broadcast is over; the reason goes to the consumer.
        case over(BroadcastEnd)
    }

    /// What is being read.
    private enum Phase {
        case header
        case body(MessageHeader)
        /// Bytes of payload that nobody wants; then the next header.
        case skip(remaining: Int)
        /// A video payload: `position` bytes of it have been read, `band` is being filled up to `filled`.
        case video(total: Int, position: Int, band: IngestBand?, filled: Int)
        case audio(AudioSource, total: Int, filled: Int)
    }

    /// Bytes read in one go before other descriptors get a turn: two 1080p NV12 frames.
    private static let readBudget = 6 * 1024 * 1024

    let socket: OwnedDescriptor
    let peer: PeerCredentials?
    private let consumer: any IngestConsumer
    private let limits: IngestLimits
    private let clock: any TimeSource

    private var phase = Phase.header
    private var state = SessionState()
    private let head: UnsafeMutableRawBufferPointer
    private var headFilled = 0
    private let scratch: UnsafeMutableRawBufferPointer
    private var audioRoom: UnsafeMutableRawBufferPointer?
    /// A descriptor that came with the header that is being read, or whose message is being handled.
    private var arrived: OwnedDescriptor?
    private let sharedPools: SharedPools
    /// The picture that came last went all the way to the consumer.
    private var hasLastPicture = false
    /// The video message that is being handled has a place in shared memory to be released.
    private var releasesPlace = false
    private(set) var outbox = Outbox()
    private var outgoing: [UInt8] = []
    private var outgoingSequence: UInt32 = 0
    /// Started, and not yet ended: the consumer is owed an `ended`.
    private(set) var isLive = false
    /// The client has closed its end.
    private(set) var inputEnded = false
    private var hasEndedSending = false
    /// Of the client's messages, the one that an error refers to.
    private var lastSequence: UInt32 = 0
    /// When the connection was accepted, for the start deadline.
    let acceptedAt: MediaTime
    private(set) var lastByteAt: MediaTime

    init(
        socket: consuming OwnedDescriptor, consumer: any IngestConsumer, limits: IngestLimits, clock: any TimeSource
    ) {
        peer = PeerCredentials(socket: socket.raw)
        self.socket = socket
        self.consumer = consumer
        self.limits = limits
        self.clock = clock
        sharedPools = SharedPools(limits: limits)
        acceptedAt = clock.now()
        lastByteAt = acceptedAt
        unsafe head = .allocate(byteCount: MessageHeader.byteCount + limits.maxBody, alignment: 16)
        unsafe scratch = .allocate(byteCount: 64 * 1024, alignment: 64)
    }

    deinit {
        unsafe head.deallocate()
        unsafe scratch.deallocate()
    }

    /// Queues a message for the client; `flush` sends it. For what a broadcast ends with (`isLast`) there is always
    /// room.
    func enqueue(isLast: Bool = false, _ encode: (UInt32, inout [UInt8]) -> Void) {
        outgoing.removeAll(keepingCapacity: true)
        encode(outgoingSequence, &outgoing)
        // A message that is dropped takes no number: to the client a gap would be an error.
        if outbox.append(outgoing, isLast: isLast) { outgoingSequence &+= 1 }
    }

    /// Of the kernel's memory, which counts some 800 bytes for a short message and gives a socket 200 KiB.
    private static let maxUnread: CInt = 16 * 1024

    /// True when the client takes in what it is sent: what is only nice to know is told to nobody else, so that it
    /// never takes the room of an error or a goodbye.
    var keepsReading: Bool {
        var unread: CInt = 0
        return unsafe ioctl(socket.raw, UInt(TIOCOUTQ), &unread) == 0 && unread < Self.maxUnread
    }

    /// False when the client is gone.
    func flush() -> Bool { outbox.flush(to: socket.raw) }

    /// Reads and throws away what is there, up to the budget; false once the client has closed.
    func discardInput() -> Bool {
        var budget = Self.readBudget
        while budget > 0, !inputEnded {
            switch unsafe Ingest.receive(from: socket.raw, into: scratch) {
            case .bytes(let count): budget -= count
            case .wouldBlock: return true
            case .ended: inputEnded = true
            }
        }
        return !inputEnded
    }

    /// Reads what is there and acts on it.
    func readable() -> Outcome {
        var budget = Self.readBudget
        var received = false
        defer { if received { lastByteAt = clock.now() } }
        while budget > 0 {
            let target = unsafe nextTarget()
            let count: Int
            switch unsafe receive(into: target) {
            case .wouldBlock: return .more
            case .ended:
                inputEnded = true
                return .over(abandonSample(.clientVanished))
            case .bytes(let n): count = n
            }
            budget -= count
            received = true
            do throws(ProtocolError) {
                if let end = try advance(by: count) { return .over(end) }
            } catch {
                sendError(error)
                if error.isFatal { return .over(abandonSample(.protocolError)) }
            }
        }
        return .more
    }

    /// Descriptors come with a message's first byte, so they are looked for where headers are read.
    private func receive(into target: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        guard case .header = phase else { return unsafe Ingest.receive(from: socket.raw, into: target) }
        return unsafe Ingest.receive(from: socket.raw, into: target, descriptor: &arrived)
    }

    /// The client will send no more: forgets a sample that was on its way.
    func abandonSample(_ end: BroadcastEnd) -> BroadcastEnd {
        switch phase {
        case .video: consumer.cancelVideo()
        case .audio: consumer.cancelAudio()
        case .header, .body, .skip: break
        }
        phase = .skip(remaining: .max)
        return end
    }

    func markEnded() { isLive = false }

    /// Once everything has been sent: tells the client that nothing follows.
    func endSendingWhenEmpty() {
        guard outbox.isEmpty, !hasEndedSending else { return }
        hasEndedSending = true
        shutdown(socket.raw, CInt(SHUT_WR))
    }

    /// Part of a message has come, and not all of it.
    var isInsideMessage: Bool {
        if case .header = phase { return headFilled > 0 }
        return true
    }

    // MARK: Reading

    /// Where the next bytes go, never more than belong to the current piece.
    private func nextTarget() -> UnsafeMutableRawBufferPointer {
        switch phase {
        case .header:
            return unsafe slice(head, from: headFilled, to: MessageHeader.byteCount)
        case .body(let header):
            return unsafe slice(head, from: headFilled, to: MessageHeader.byteCount + header.bodyBytes)
        case .skip(let remaining):
            return unsafe slice(scratch, from: 0, to: min(remaining, scratch.count))
        case .video(let total, let position, let band, let filled):
            guard let band else { return unsafe slice(scratch, from: 0, to: min(total - position, scratch.count)) }
            if position < band.payloadOffset {
                return unsafe slice(scratch, from: 0, to: min(band.payloadOffset - position, scratch.count))
            }
            return unsafe slice(consumer.bandBuffer, from: filled, to: band.byteCount)
        case .audio(_, let total, let filled):
            return unsafe slice(audioRoom!, from: filled, to: total)
        }
    }

    private func slice(_ buffer: UnsafeMutableRawBufferPointer, from: Int, to: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[from..<to])
    }

    /// Takes note of `count` bytes that have arrived at the current target.
    private func advance(by count: Int) throws(ProtocolError) -> BroadcastEnd? {
        switch phase {
        case .header:
            headFilled += count
            guard headFilled == MessageHeader.byteCount else { return nil }
            let header = try decodeHeader()
            if header.bodyBytes > 0 {
                phase = .body(header)
                return nil
            }
            return try dispatch(header)
        case .body(let header):
            headFilled += count
            guard headFilled == MessageHeader.byteCount + header.bodyBytes else { return nil }
            return try dispatch(header)
        case .skip(let remaining):
            remaining == count ? nextMessage() : (phase = .skip(remaining: remaining - count))
        case .video(let total, let position, let band, let filled):
            try advanceVideo(total: total, position: position + count, band: band, filled: filled, count: count)
        case .audio(let source, let total, let filled):
            guard filled + count == total else {
                phase = .audio(source, total: total, filled: filled + count)
                return nil
            }
            unsafe audioRoom = nil
            nextMessage()
            consumer.endAudio(arrival: clock.now())
        }
        return nil
    }

    private func advanceVideo(total: Int, position: Int, band: IngestBand?, filled: Int, count: Int)
        throws(ProtocolError)
    {
        var (band, filled) = (band, filled)
        if let current = band, position > current.payloadOffset {
            filled += count
            if filled == current.byteCount {
                do throws(ProtocolError) {
                    try consumer.bandArrived()
                } catch {
                    // The frame is lost, its remaining bytes are skipped, and the broadcast goes on.
                    consumer.cancelVideo()
                    skip(total - position)
                    throw error
                }
                band = consumer.nextBand()
                filled = 0
            }
        }
        guard position == total else {
            phase = .video(total: total, position: position, band: band, filled: filled)
            return
        }
        nextMessage()
        hasLastPicture = true
        consumer.endVideo(arrival: clock.now())
    }

    private func nextMessage() {
        headFilled = 0
        phase = .header
    }

    private func skip(_ bytes: Int) {
        if bytes == 0 { nextMessage() } else { phase = .skip(remaining: bytes) }
    }

    // MARK: Messages

    private func decodeHeader() throws(ProtocolError) -> MessageHeader {
        let bytes = unsafe RawSpan(_unsafeStart: head.baseAddress!, byteCount: MessageHeader.byteCount)
        return try MessageHeader.decode(bytes, limits: limits)
    }

    private func dispatch(_ header: MessageHeader) throws(ProtocolError) -> BroadcastEnd? {
        // Whatever becomes of the message, its payload is dealt with: by default it is skipped. So is a descriptor.
        skip(header.payloadBytes)
        defer { arrived = nil }
        // And the place of a picture that lay in shared memory is free again.
        releasesPlace = header.type == .video && header.payloadBytes == 0
        defer { if releasesPlace { release(header.sequence) } }
        lastSequence = header.sequence
        let body = unsafe RawSpan(
            _unsafeStart: head.baseAddress! + MessageHeader.byteCount, byteCount: header.bodyBytes)
        return try handle(header, body: body)
    }

    private func handle(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) -> BroadcastEnd? {
        switch try state.admit(header) {
        case .start:
            let message = try StartedMessage.decode(body: body)
            let welcome = try consumer.started(message, peer: peer)
            isLive = true
            enqueue { welcome.encode(sequence: $0, into: &$1) }
        case .sample: try beginSample(header, body: body)
        case .discard, .skip: if header.type == .video { hasLastPicture = false }
        case .pause:
            // First the pause: a client that said it wrongly still means it, and is told what was wrong.
            consumer.paused()
            try BareMessage.check(body: body, type: .paused)
        case .resume:
            try BareMessage.check(body: body, type: .resumed)
            state.resume()
            consumer.resumed()
        case .share: try sharedPools.take(try SharedMemoryMessage.decode(body: body), arrived.take())
        case .annotate: consumer.annotated(try AnnotatedMessage.decode(body: body))
        case .finish:
            let message = try FinishedMessage.decode(body: body)
            return .finished(message)
        }
        return nil
    }

    private func beginSample(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) {
        let total = header.payloadBytes
        switch header.type {
        case .video:
            // Whatever is wrong with it: the picture before it is not the last one any more.
            let hadLastPicture = hasLastPicture
            hasLastPicture = false
            let message: VideoMessage
            do throws(ProtocolError) {
                message = try VideoMessage.decode(body: body, payloadBytes: total, limits: limits)
            } catch {
                if VideoMessage.hidesUnclearly(body) { consumer.refusedRegions(error.message, arrival: clock.now()) }
                throw error
            }
            if message.isUnchanged {
                hasLastPicture = hadLastPicture
                return try takeUnchanged(message)
            }
            if let shared = message.shared { return try takeShared(message, shared) }
            guard try consumer.beginVideo(message, arrival: clock.now()) else { return }
            phase = .video(total: total, position: 0, band: consumer.nextBand(), filled: 0)
        case .audioApp, .audioMic:
            let source: AudioSource = header.type == .audioApp ? .app : .microphone
            let message = try AudioMessage.decode(
                body: body, payloadBytes: total, limits: limits, type: source == .app ? .audioApp : .audioMic)
            // An empty sample has nothing to wait for.
            guard total > 0 else { return }
            guard
                let room = unsafe try consumer.beginAudio(
                    source, message, payloadBytes: total, arrival: clock.now())
            else { return }
            unsafe audioRoom = room
            phase = .audio(source, total: total, filled: 0)
        default: break
        }
    }

    private func takeUnchanged(_ message: VideoMessage) throws(ProtocolError) {
        releasesPlace = false
        guard hasLastPicture else {
            throw ProtocolError(
                .unknownPicture, fatal: false,
                "video: the picture that is said to be unchanged was not taken; it has to be sent")
        }
        try consumer.repeatVideo(message, arrival: clock.now())
    }

    /// Takes a picture that lies in shared memory, at once: nothing of the client's is kept.
    private func takeShared(_ message: VideoMessage, _ shared: SharedPayload) throws(ProtocolError) {
        let payload = try sharedPools.find(shared)
        try payload.check()
        let arrival = clock.now()
        guard try consumer.beginVideo(message, arrival: arrival) else { return }
        do throws(ProtocolError) {
            while let band = consumer.nextBand() {
                try unsafe consumer.bandArrived(at: payload.bytes(band.payloadOffset, band.byteCount))
            }
            try payload.check()
        } catch {
            consumer.cancelVideo()
            throw error
        }
        hasLastPicture = true
        consumer.endVideo(arrival: arrival)
    }

    private func release(_ sequence: UInt32) {
        enqueue { ReleasedMessage(sequence: sequence).encode(sequence: $0, into: &$1) }
    }

    func sendError(_ error: ProtocolError) {
        let message = ErrorMessage(error, refersTo: lastSequence)
        enqueue(isLast: error.isFatal) { message.encode(sequence: $0, into: &$1) }
    }
}
