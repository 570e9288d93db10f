internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// What a client's messages make the session do.
extension IngestSession {
    func decodeHeader() throws(ProtocolError) -> MessageHeader {
        let bytes = unsafe RawSpan(_unsafeStart: head.baseAddress!, byteCount: MessageHeader.byteCount)
        return try MessageHeader.decode(bytes, limits: limits)
    }

    func dispatch(_ header: MessageHeader) throws(ProtocolError) -> BroadcastEnd? {
        // Whatever becomes of the message, its payload is dealt with: by default it is skipped. So is a descriptor.
        skip(header.payloadBytes)
        defer { dropArrived() }
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
            toldObjections = host.curtainObjections
            let (welcome, sink) = try host.begin(message, peer: peer)
            self.sink = sink
            enqueue { welcome.encode(sequence: $0, into: &$1) }
        case .sample: try beginSample(header, body: body)
        case .discard: try discardSample(header, body: body)
        case .skip:
            // It changes nothing, but a client that says it wrongly is told so.
            if let type = header.type, type == .paused || type == .resumed {
                try BareMessage.check(body: body, type: type)
            }
        case .pause:
            // First the pause: a client that said it wrongly still means it, and is told what was wrong.
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
            // Whatever is wrong with it: the picture before it is not the last one any more.
            let earlier = lastPicture
            lastPicture = nil
            var message = try decodeVideo(header, body: body)
            // Nothing is known of any other picture.
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
            // An empty sample has nothing to wait for.
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

    /// A sample of a pause is looked at for the client's sake, who is told what is wrong with it, and because of what
    /// it may mean to hide: that may be in the first picture after the pause, too.
    private func discardSample(_ header: MessageHeader, body: RawSpan) throws(ProtocolError) {
        guard header.type == .video else { return _ = try decodeAudio(header, body: body) }
        lastPicture = nil
        _ = try decodeVideo(header, body: body)
    }

    private func share(_ body: RawSpan, _ descriptor: consuming ForeignDescriptor?) throws(ProtocolError) {
        // One that is refused has to be closed.
        defer { noteDiscarded() }
        let message: SharedMemoryMessage
        do throws(ProtocolError) {
            message = try SharedMemoryMessage.decode(body: body)
        } catch {
            // Refused for what follows its fields: pictures must not be read from what had its number before.
            if let pool = SharedMemoryMessage.pool(of: body) { sharedPools.forget(pool) }
            throw error
        }
        try sharedPools.take(message, descriptor)
    }

    private func takeUnchanged(_ message: VideoMessage, _ sink: any SampleSink) throws(ProtocolError) {
        guard lastPicture != nil else {
            throw ProtocolError(
                .unknownPicture, fatal: false,
                "video: the picture that is said to be unchanged was not taken; it has to be sent")
        }
        try sink.repeatVideo(message, arrival: clock.now())
        // It has no place of its own. One that is refused may have been meant otherwise.
        releasesPlace = false
    }

    /// Begins a picture that lies in shared memory. `readable` converts it, band by band: a picture of 64 MiB comes
    /// with a message of some 130 bytes, and must not keep the thread from everything else.
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

    /// Goes on with a picture in shared memory until it is whole or the turn is over. Nothing of the client's is kept.
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

    func sendError(_ error: ProtocolError) {
        let message = ErrorMessage(error, refersTo: lastSequence)
        enqueue(isLast: error.isFatal) { message.encode(sequence: $0, into: &$1) }
    }
}
