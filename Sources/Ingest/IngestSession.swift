internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// One client's connection: reads messages from a non-blocking socket and passes samples to the broadcast's sink.
///
/// Ingest thread only. The session owns the socket, 4 KiB for a message's header and body, and 64 KiB for skipped
/// bytes. Payloads are read into the sink's buffers. The session never waits: `readable` reads until the socket is
/// empty or the turn is over.
@safe final class IngestSession {
    enum Outcome: Equatable {
        case more
        /// The client's side of the broadcast is over, for this reason.
        case over(BroadcastEnd)
    }

    /// The part of a message that is being read. `IngestSession+Messages.swift` uses all members that are not private.
    enum Phase {
        case header
        case body(MessageHeader)
        /// Skips payload bytes; the next header follows.
        case skip(remaining: Int)
        /// A video payload: `position` bytes are read, and `band` is filled up to `filled`.
        case video(any SampleSink, total: Int, position: Int, band: IngestBand?, filled: Int)
        case audio(any SampleSink, total: Int, filled: Int)
        /// A picture in shared memory that is not completely converted.
        case shared(SharedPicture)
    }

    /// A picture in shared memory. Its place is released after the conversion.
    struct SharedPicture {
        let sink: any SampleSink
        let payload: SharedPools.Payload
        let arrival: MediaTime
        let sequence: UInt32
    }

    let socket: ForeignDescriptor
    let peer: PeerCredentials?
    let host: any IngestHost
    /// The sink for the client's samples, from `begin` until the host receives `ended`.
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
    /// The client sends descriptors faster than they can be closed. No more are read.
    private var sendsTooManyDescriptors = false
    var audioRoom: UnsafeMutableRawBufferPointer?
    /// The descriptor that came with the current message.
    var arrived: ForeignDescriptor?
    let sharedPools: SharedPools
    /// The sequence number of the last picture, if the sink received all of it.
    var lastPicture: UInt32?
    /// Whether the current video message has a place in shared memory that must be released.
    var releasesPlace = false
    private(set) var outbox = Outbox()
    private var outgoing: [UInt8] = []
    private var outgoingSequence: UInt32 = 0
    /// The curtain state that the client received last.
    private var toldCurtain = (state: BroadcastState.curtainDown.rawValue, value: UInt32(0))
    /// The host's `curtainObjections` at the last `curtainDown` message, or at the start.
    var toldObjections: UInt32 = 0
    /// The broadcast has started and not ended: the host must receive `ended`.
    var isLive: Bool { sink != nil }
    /// The client has closed its end.
    private(set) var inputEnded = false
    private var hasEndedSending = false
    /// The sequence number of the message that an error refers to.
    var lastSequence: UInt32 = 0
    private(set) var times: ClientPatience.Times

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
        times = ClientPatience.Times(accepted: clock.now())
        unsafe head = .allocate(byteCount: MessageHeader.byteCount + limits.maxBody, alignment: 16)
        unsafe scratch = .allocate(byteCount: 64 * 1024, alignment: 64)
    }

    deinit {
        unsafe head.deallocate()
        unsafe scratch.deallocate()
        reader.deallocate()
    }

    /// Queues a message for the client. `flush` sends it. The last messages of a broadcast (`isLast`) have reserved
    /// space.
    func enqueue(isLast: Bool = false, _ encode: (UInt32, inout [UInt8]) -> Void) {
        outgoing.removeAll(keepingCapacity: true)
        encode(outgoingSequence, &outgoing)
        // A dropped message uses no sequence number, because a gap is an error for the client.
        if outbox.append(outgoing, isLast: isLast) { outgoingSequence &+= 1 }
    }

    /// Sends the curtain state if it changed since the last message. `curtainDown` is also sent if the curtain was up
    /// in between: pictures may have been discarded, and the client can send them again.
    func tellCurtain() {
        // The number comes first, so that an objection in between causes another message.
        let objections = host.curtainObjections
        let state = host.curtainState()
        let isDown = state.state == .curtainDown
        let isNew = state.stateRaw != toldCurtain.state || state.value != toldCurtain.value
        guard isNew || (isDown && objections != toldObjections) else { return }
        let number = outgoingSequence
        enqueue { state.encode(sequence: $0, into: &$1) }
        // If the outbox had no space, the next change sends the state.
        guard outgoingSequence != number else { return }
        toldCurtain = (state.stateRaw, state.value)
        if isDown { toldObjections = objections }
    }

    /// Limit of unread bytes, in kernel memory: about 800 bytes for a short message; a socket has 200 KiB.
    private static let maxUnread: CInt = 16 * 1024

    /// Whether the client reads its messages. Otherwise counters are not sent, so that errors and the goodbye have
    /// space.
    var keepsReading: Bool {
        var unread: CInt = 0
        return unsafe ioctl(socket.raw, UInt(TIOCOUTQ), &unread) == 0 && unread < Self.maxUnread
    }

    /// Sends queued messages. Returns false if the client is gone.
    func flush() -> Bool { outbox.flush(to: socket.raw) }

    /// Discards available input for one turn. Returns false after the client has closed.
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

    /// Reads and handles available input for one turn.
    func readable() -> Outcome {
        var turn = IngestTurn(clock)
        var received = false
        defer { if received { times.lastByte = clock.now() } }
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
                        "descriptors arrive faster than they can be closed; send descriptors only with sharedMemory"))
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

    /// Keeps a descriptor that comes with the first byte of a header. All others are closed.
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

    /// Counts a discarded descriptor. If the closer is full, waits once for its threads.
    func noteDiscarded() {
        guard !sendsTooManyDescriptors, !closer.waitForRoom(Self.closingPatience) else { return }
        sendsTooManyDescriptors = true
    }

    private static let closingPatience = MediaTime.milliseconds(100)

    /// Discards an incomplete sample, because the client sends no more.
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

    /// Moves all deadlines by `lost`, a time in which the daemon did not run.
    func forgive(_ lost: MediaTime) { times.forgive(lost) }

    /// Shuts down the sending side after all messages are sent.
    func endSendingWhenEmpty() {
        guard outbox.isEmpty, !hasEndedSending else { return }
        hasEndedSending = true
        shutdown(socket.raw, CInt(SHUT_WR))
    }

    /// Whether a picture in shared memory is partly converted, so that there is work without new input.
    var hasUnfinishedWork: Bool {
        if case .shared = phase { return true }
        return false
    }

    /// What the daemon waits for.
    var awaited: ClientPatience.Awaited {
        guard isLive else { return .start }
        if case .header = phase, headFilled == 0 { return .nextMessage }
        return .restOfMessage
    }

    // MARK: Reading

    /// The buffer for the next bytes, limited to the current part of the message.
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

    /// Handles `count` bytes that were read into the current target.
    private func advance(by count: Int) throws(ProtocolError) -> BroadcastEnd? {
        switch phase {
        case .header:
            if headFilled == 0 { (times.messageBegin, times.messagePayload) = (clock.now(), 0) }
            headFilled += count
            guard headFilled == MessageHeader.byteCount else { return nil }
            let header = try decodeHeader()
            times.messagePayload = header.payloadBytes
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
                    // The frame is lost. Its remaining bytes are skipped, and the broadcast continues.
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
