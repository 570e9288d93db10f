internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// One client's connection: reads messages from a non-blocking socket, piece by piece, and hands samples to the
/// broadcast's sink.
///
/// Ingest thread only. Owns the socket, 4 KiB for a message's head and 64 KiB to skip into; payloads go straight to
/// where the sink wants them. It never waits: `readable` reads until the socket is empty or its turn is over.
@safe final class IngestSession {
    enum Outcome: Equatable {
        case more
        /// The client's side of the broadcast is over; the reason goes to the host.
        case over(BroadcastEnd)
    }

    /// What is being read. Used by `IngestSession+Messages.swift`, like everything here that is not private.
    enum Phase {
        case header
        case body(MessageHeader)
        /// Bytes of payload that nobody wants; then the next header.
        case skip(remaining: Int)
        /// A video payload: `position` bytes of it have been read, `band` is being filled up to `filled`.
        case video(any SampleSink, total: Int, position: Int, band: IngestBand?, filled: Int)
        case audio(any SampleSink, total: Int, filled: Int)
        /// A picture in shared memory, of which bands are left to be converted.
        case shared(SharedPicture)
    }

    /// A picture that is read where it lies; its place is released afterwards.
    struct SharedPicture {
        let sink: any SampleSink
        let payload: SharedPools.Payload
        let arrival: MediaTime
        let sequence: UInt32
    }

    let socket: ForeignDescriptor
    let peer: PeerCredentials?
    let host: any IngestHost
    /// What takes the client's samples: from `begin` until the host has been told that the broadcast has ended.
    var sink: (any SampleSink)?
    let limits: IngestLimits
    let clock: any TimeSource

    var phase = Phase.header
    var state = SessionState()
    let head: UnsafeMutableRawBufferPointer
    private var headFilled = 0
    private let scratch: UnsafeMutableRawBufferPointer
    private let reader: SocketReader
    private let closer: DescriptorCloser
    /// Descriptors that the client sends cannot be closed as fast as they come: no more of them is read.
    private var sendsTooManyDescriptors = false
    var audioRoom: UnsafeMutableRawBufferPointer?
    /// A descriptor that came with the header that is being read, or whose message is being handled.
    var arrived: ForeignDescriptor?
    let sharedPools: SharedPools
    /// The message of the picture that came last, where all of it went to the sink.
    var lastPicture: UInt32?
    /// The video message that is being handled has a place in shared memory to be released.
    var releasesPlace = false
    private(set) var outbox = Outbox()
    private var outgoing: [UInt8] = []
    private var outgoingSequence: UInt32 = 0
    /// What the client knows of the curtain.
    private var toldCurtain = (state: BroadcastState.curtainDown.rawValue, value: UInt32(0))
    /// The host's `curtainObjections` when the client was told last that the curtain is down, or when it began.
    var toldObjections: UInt32 = 0
    /// Begun and not yet ended: the host is owed an `ended`.
    var isLive: Bool { sink != nil }
    /// The client has closed its end.
    private(set) var inputEnded = false
    private var hasEndedSending = false
    /// Of the client's messages, the one that an error refers to.
    var lastSequence: UInt32 = 0
    /// When the connection was accepted, for the start deadline.
    let acceptedAt: MediaTime
    private(set) var lastByteAt: MediaTime
    /// When the first byte of the message came that is being read, and how many bytes of payload it has.
    private var messageBeganAt: MediaTime
    private var messagePayload = 0

    init(
        socket: consuming OwnedDescriptor, host: any IngestHost, limits: IngestLimits, clock: any TimeSource,
        closer: DescriptorCloser
    ) {
        peer = PeerCredentials(socket: socket.raw)
        reader = SocketReader(socket.raw)
        self.socket = ForeignDescriptor(connection: socket, closer)
        self.closer = closer
        self.host = host
        self.limits = limits
        self.clock = clock
        sharedPools = SharedPools(limits: limits)
        acceptedAt = clock.now()
        lastByteAt = acceptedAt
        messageBeganAt = acceptedAt
        unsafe head = .allocate(byteCount: MessageHeader.byteCount + limits.maxBody, alignment: 16)
        unsafe scratch = .allocate(byteCount: 64 * 1024, alignment: 64)
    }

    deinit {
        unsafe head.deallocate()
        unsafe scratch.deallocate()
        reader.deallocate()
    }

    /// Queues a message for the client; `flush` sends it. For what a broadcast ends with (`isLast`) there is always
    /// room.
    func enqueue(isLast: Bool = false, _ encode: (UInt32, inout [UInt8]) -> Void) {
        outgoing.removeAll(keepingCapacity: true)
        encode(outgoingSequence, &outgoing)
        // A message that is dropped takes no number: to the client a gap would be an error.
        if outbox.append(outgoing, isLast: isLast) { outgoingSequence &+= 1 }
    }

    /// Tells the client whether viewers see a curtain, where that is news to it. That it is down is also news where it
    /// went up meanwhile: pictures may have been thrown away, and the client is the one who can send them again.
    func tellCurtain() {
        // First the number: what happens in between is told once more.
        let objections = host.curtainObjections
        let state = host.curtainState()
        let isDown = state.state == .curtainDown
        let isNew = state.stateRaw != toldCurtain.state || state.value != toldCurtain.value
        guard isNew || (isDown && objections != toldObjections) else { return }
        let number = outgoingSequence
        enqueue { state.encode(sequence: $0, into: &$1) }
        // Where there was no room for it, the next change tells both.
        guard outgoingSequence != number else { return }
        toldCurtain = (state.stateRaw, state.value)
        if isDown { toldObjections = objections }
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

    /// Reads and throws away what is there, for one turn; false once the client has closed.
    func discardInput() -> Bool {
        var turn = IngestTurn(clock)
        while !turn.isOver, !inputEnded {
            switch unsafe reader.receive(from: socket.raw, into: scratch, take: discard) {
            case .bytes(let count): turn.spend(count)
            case .wouldBlock: return true
            case .ended: inputEnded = true
            }
            if sendsTooManyDescriptors { inputEnded = true }
        }
        return !inputEnded
    }

    /// Reads what is there and acts on it, for one turn.
    func readable() -> Outcome {
        var turn = IngestTurn(clock)
        var received = false
        defer { if received { lastByteAt = clock.now() } }
        while !turn.isOver {
            if case .shared(let picture) = phase {
                received = true
                convert(picture, in: &turn)
                continue
            }
            let target = unsafe nextTarget()
            let count: Int
            switch unsafe receive(into: target) {
            case .wouldBlock: return .more
            case .ended:
                inputEnded = true
                return .over(abandonSample(.clientVanished))
            case .bytes(let n): count = n
            }
            turn.spend(count)
            received = true
            if sendsTooManyDescriptors {
                inputEnded = true
                sendError(
                    ProtocolError(
                        .badSharedMemory, fatal: true,
                        "descriptors come faster than they can be closed; send only those of sharedMemory"))
                return .over(abandonSample(.protocolError))
            }
            do throws(ProtocolError) {
                if let end = try advance(by: count) { return .over(end) }
            } catch {
                sendError(error)
                if error.isFatal { return .over(abandonSample(.protocolError)) }
            }
        }
        return .more
    }

    /// A descriptor that is wanted comes with a message's first byte, so it is kept where headers are read.
    private func receive(into target: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        guard case .header = phase else {
            return unsafe reader.receive(from: socket.raw, into: target, take: discard)
        }
        var isFirst = true
        return unsafe reader.receive(from: socket.raw, into: target) { raw in
            guard isFirst else { return discard(raw) }
            isFirst = false
            arrived = ForeignDescriptor(raw, closer)
        }
    }

    private func discard(_ raw: CInt) {
        closer.close(raw)
        noteDiscarded()
    }

    /// Behind each descriptor that nobody has a use for. Waits once, for threads that only have to get a turn.
    func noteDiscarded() {
        guard !sendsTooManyDescriptors, !closer.waitForRoom(Self.closingPatience) else { return }
        sendsTooManyDescriptors = true
    }

    private static let closingPatience = MediaTime.milliseconds(100)

    /// The client will send no more: forgets a sample that was on its way.
    func abandonSample(_ end: BroadcastEnd) -> BroadcastEnd {
        switch phase {
        case .video(let sink, _, _, _, _): sink.cancelVideo()
        case .audio(let sink, _, _): sink.cancelAudio()
        case .shared(let picture):
            picture.sink.cancelVideo()
            release(picture.sequence)
        case .header, .body, .skip: break
        }
        phase = .skip(remaining: .max)
        return end
    }

    func markEnded() { sink = nil }

    /// Once everything has been sent: tells the client that nothing follows.
    func endSendingWhenEmpty() {
        guard outbox.isEmpty, !hasEndedSending else { return }
        hasEndedSending = true
        shutdown(socket.raw, CInt(SHUT_WR))
    }

    /// When the message that has begun must be whole. Its next byte alone is not enough: a client that sends one now
    /// and then would keep all others out.
    func messageDeadline(_ patience: MediaTime) -> MediaTime {
        messageBeganAt + patience + .seconds(Int64(messagePayload >> 20))
    }

    /// There is something to do although nothing more has come: a picture in shared memory is half converted.
    var hasUnfinishedWork: Bool {
        if case .shared = phase { return true }
        return false
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
        case .video(let sink, let total, let position, let band, let filled):
            guard let band else { return unsafe slice(scratch, from: 0, to: min(total - position, scratch.count)) }
            if position < band.payloadOffset {
                return unsafe slice(scratch, from: 0, to: min(band.payloadOffset - position, scratch.count))
            }
            return unsafe slice(sink.bandBuffer, from: filled, to: band.byteCount)
        case .audio(_, let total, let filled):
            return unsafe slice(audioRoom!, from: filled, to: total)
        case .shared: preconditionFailure("the picture's message has been read")
        }
    }

    private func slice(_ buffer: UnsafeMutableRawBufferPointer, from: Int, to: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[from..<to])
    }

    /// Takes note of `count` bytes that have arrived at the current target.
    private func advance(by count: Int) throws(ProtocolError) -> BroadcastEnd? {
        switch phase {
        case .header:
            if headFilled == 0 { (messageBeganAt, messagePayload) = (clock.now(), 0) }
            headFilled += count
            guard headFilled == MessageHeader.byteCount else { return nil }
            let header = try decodeHeader()
            messagePayload = header.payloadBytes
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
        case .video(let sink, let total, let position, let band, let filled):
            try advanceVideo(sink, total: total, position: position + count, band: band, filled: filled, count: count)
        case .audio(let sink, let total, let filled):
            guard filled + count == total else {
                phase = .audio(sink, total: total, filled: filled + count)
                return nil
            }
            unsafe audioRoom = nil
            nextMessage()
            sink.endAudio(arrival: clock.now())
        case .shared: break
        }
        return nil
    }

    private func advanceVideo(
        _ sink: any SampleSink, total: Int, position: Int, band: IngestBand?, filled: Int, count: Int
    ) throws(ProtocolError) {
        var (band, filled) = (band, filled)
        if let current = band, position > current.payloadOffset {
            filled += count
            if filled == current.byteCount {
                do throws(ProtocolError) {
                    try sink.bandArrived()
                } catch {
                    // The frame is lost, its remaining bytes are skipped, and the broadcast goes on.
                    sink.cancelVideo()
                    skip(total - position)
                    throw error
                }
                band = sink.nextBand()
                filled = 0
            }
        }
        guard position == total else {
            phase = .video(sink, total: total, position: position, band: band, filled: filled)
            return
        }
        nextMessage()
        lastPicture = lastSequence
        sink.endVideo(arrival: clock.now())
    }

    func nextMessage() {
        headFilled = 0
        phase = .header
    }

    func skip(_ bytes: Int) {
        if bytes == 0 { nextMessage() } else { phase = .skip(remaining: bytes) }
    }
}
