internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// How the session handles a client's messages.
extension IngestSession {
    func decodeHeader() throws(ProtocolError) -> MessageHeader {
        let bytes = unsafe RawSpan(_unsafeStart: head.baseAddress!, byteCount: MessageHeader.byteCount)
        return try MessageHeader.decode(bytes, limits: limits)
    }

    func dispatch(_ header: MessageHeader) throws(ProtocolError) -> BroadcastEnd? {
        // By default, the payload is skipped and a descriptor is dropped, even if the message is refused.
        skip(header.payloadBytes)
        defer { dropArrived() }
        // The place of a picture in shared memory is released.
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
            // The client may have given up while the daemon stood still. Then it has nothing to broadcast.
            guard !SocketReader.isOver(socket.raw) else { return .clientVanished }
            toldObjections = host.curtainObjections
            let (welcome, sink) = try host.begin(message, peer: peer)
            self.sink = sink
            enqueue { welcome.encode(sequence: $0, into: &$1) }
        case .sample: try beginSample(header, body: body)
        case .discard: try discardSample(header, body: body)
        case .skip:
            // The message changes nothing, but a malformed one is an error.
            if let type = header.type, type == .paused || type == .resumed {
                try BareMessage.check(body: body, type: type)
            }
        case .pause:
            // The pause comes first: a malformed message pauses as well, and the client receives an error.
            host.paused()
            try BareMessage.check(body: body, type: .paused)
        case .resume:
            try BareMessage.check(body: body, type: .resumed)
            state.resume()
            host.resumed()
        case .share: try share(body, arrived.take())
        case .annotate: host.annotated(try AnnotatedMessage.decode(body: body))
        case .finish:
            let message = try FinishedMessage.decode(body: body)
            return .finished(message)
        }
        return nil
    }

    private func beginSample(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) {
        guard let sink else { return }
        let total = header.payloadBytes
        switch header.type {
        case .video:
            // Even if this picture is refused, the previous picture is no longer the last one.
            let earlier = lastPicture
            lastPicture = nil
            var message = try decodeVideo(header, body: body)
            // Damage counts only if it refers to the last picture.
            if message.damage?.since != earlier { message.damage = nil }
            if message.isUnchanged {
                lastPicture = earlier
                return try takeUnchanged(message, sink)
            }
            if let shared = message.shared { return try takeShared(message, shared, sink, sequence: header.sequence) }
            guard try sink.beginVideo(message, arrival: clock.now()) else { return }
            phase = .video(sink, total: total, position: 0, band: sink.nextBand(), filled: 0)
        case .audioApp, .audioMic:
            let source: AudioSource = header.type == .audioApp ? .app : .microphone
            let message = try decodeAudio(header, body: body)
            // An empty sample has no payload to read.
            guard total > 0 else { return }
            guard
                let room = unsafe try sink.beginAudio(
                    source, message, payloadBytes: total, arrival: clock.now())
            else { return }
            unsafe audioRoom = room
            phase = .audio(sink, total: total, filled: 0)
        default: break
        }
    }

    private func decodeVideo(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) -> VideoMessage {
        do throws(ProtocolError) {
            return try VideoMessage.decode(body: body, payloadBytes: header.payloadBytes, limits: limits)
        } catch {
            if VideoMessage.hidesUnclearly(body) { sink?.refusedRegions(error.message, arrival: clock.now()) }
            throw error
        }
    }

    private func decodeAudio(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) -> AudioMessage {
        try AudioMessage.decode(
            body: body, payloadBytes: header.payloadBytes, limits: limits,
            type: header.type == .audioMic ? .audioMic : .audioApp)
    }

    /// Checks a sample that comes during a pause: the client learns of errors, and invalid secure regions raise the
    /// curtain, because the first picture after the pause may show the same content.
    private func discardSample(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) {
        guard header.type == .video else { return _ = try decodeAudio(header, body: body) }
        lastPicture = nil
        _ = try decodeVideo(header, body: body)
    }

    private func share(_ body: RawSpan, _ descriptor: consuming ForeignDescriptor?) throws(ProtocolError) {
        // A refused descriptor must be closed.
        defer { noteDiscarded() }
        let message: SharedMemoryMessage
        do throws(ProtocolError) {
            message = try SharedMemoryMessage.decode(body: body)
        } catch {
            // The pool number is readable, so that later pictures must not be read from its previous memory.
            if let pool = SharedMemoryMessage.pool(of: body) { sharedPools.forget(pool) }
            throw error
        }
        try sharedPools.take(message, descriptor)
    }

    private func takeUnchanged(_ message: VideoMessage, _ sink: any SampleSink) throws(ProtocolError) {
        guard lastPicture != nil else {
            throw ProtocolError(
                .unknownPicture, fatal: false,
                "video: the picture marked as unchanged was not accepted before; send the picture")
        }
        try sink.repeatVideo(message, arrival: clock.now())
        // An accepted unchanged picture has no place of its own.
        releasesPlace = false
    }

    /// Starts a picture in shared memory. `readable` converts it band by band, because a message of 130 bytes can
    /// announce a picture of 64 MiB, which must not block the thread.
    private func takeShared(
        _ message: VideoMessage, _ shared: SharedPayload, _ sink: any SampleSink, sequence: UInt32
    ) throws(ProtocolError) {
        let payload = try sharedPools.find(shared)
        try payload.check()
        let arrival = clock.now()
        guard try sink.beginVideo(message, arrival: arrival) else { return }
        releasesPlace = false
        phase = .shared(SharedPicture(sink: sink, payload: payload, arrival: arrival, sequence: sequence))
    }

    /// Converts a picture in shared memory until it is complete or the turn is over.
    func convert(_ picture: SharedPicture, in turn: inout IngestTurn) {
        let sink = picture.sink
        do throws(ProtocolError) {
            while let band = sink.nextBand() {
                try unsafe sink.bandArrived(at: picture.payload.bytes(band.payloadOffset, band.byteCount))
                turn.spend(band.byteCount)
                if turn.isOver { return }
            }
            try picture.payload.check()
        } catch {
            sink.cancelVideo()
            nextMessage()
            release(picture.sequence)
            return sendError(error)
        }
        nextMessage()
        lastPicture = picture.sequence
        sink.endVideo(arrival: picture.arrival)
        release(picture.sequence)
    }

    private func dropArrived() {
        if arrived.take() != nil { noteDiscarded() }
    }

    func release(_ sequence: UInt32) {
        enqueue { ReleasedMessage(sequence: sequence).encode(sequence: $0, into: &$1) }
    }

    /// Tells a second client to come again later.
    func refuse() {
        sendError(
            ProtocolError(
                .busy, fatal: true,
                "another client is broadcasting, and the daemon serves one broadcast; try again after it has finished"))
        _ = flush()
    }

    func sendError(_ error: ProtocolError) {
        let message = ErrorMessage(error, refersTo: lastSequence)
        enqueue(isLast: error.isFatal) { message.encode(sequence: $0, into: &$1) }
    }
}
