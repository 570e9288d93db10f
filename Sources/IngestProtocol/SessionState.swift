/// The order of a client's messages: `started` first, samples while live, `finished` last, no gap in their numbers.
package struct SessionState: Equatable, Sendable {
    package enum Phase: Sendable {
        case awaitingStarted, live, paused, finished
    }

    /// The action of a receiver for a message with a valid header.
    package enum Admission: Equatable, Sendable {
        /// Decode `started` and answer it.
        case start
        /// Take the sample.
        case sample
        /// Read the sample and throw it away: the client is paused, and nothing of a pause is shown or heard.
        case discard
        /// Show nothing from here on, whatever else is wrong with the message.
        case pause
        /// If the message is valid, call `resume`, which ends the pause. Until then, the client is paused.
        case resume
        case annotate
        /// Take the memory that pictures will lie in, even while paused.
        case share
        case finish
        /// Skip body and payload: the type is unknown and not critical, or the message is a pause while paused.
        case skip
    }

    package private(set) var phase = Phase.awaitingStarted
    /// The sequence number that the next message must have.
    package private(set) var nextSequence: UInt32 = 0

    package init() {}

    /// Records a message and returns the action. Every error is fatal.
    package mutating func admit(_ header: MessageHeader) throws(ProtocolError) -> Admission {
        guard header.sequence == nextSequence else {
            throw ProtocolError(
                .sequenceGap, fatal: true,
                "\(MessageType.name(of: header.rawType)): sequence number \(header.sequence); the next number "
                    + "must be \(nextSequence)")
        }
        let admission = try admission(for: header)
        nextSequence &+= 1
        switch admission {
        case .start: phase = .live
        case .pause: phase = .paused
        case .finish: phase = .finished
        case .resume, .sample, .discard, .annotate, .share, .skip: break
        }
        return admission
    }

    /// Ends the pause after a valid `resumed`. A refused one changes nothing.
    package mutating func resume() {
        if phase == .paused { phase = .live }
    }

    private func admission(for header: MessageHeader) throws(ProtocolError) -> Admission {
        func unexpected(_ why: String) -> ProtocolError {
            ProtocolError(.unexpectedMessage, fatal: true, "\(MessageType.name(of: header.rawType)): \(why)")
        }
        if let type = header.type, !type.isFromClient { throw unexpected("only a daemon sends this message") }
        switch (phase, header.type) {
        case (.awaitingStarted, .started): return .start
        case (.awaitingStarted, _): throw unexpected("the first message must be started")
        case (.finished, _): throw unexpected("no message may follow finished")
        case (_, .started):
            throw unexpected("the broadcast has already started; another broadcast needs its own connection")
        case (_, nil): return .skip
        case (.live, .video), (.live, .audioApp), (.live, .audioMic): return .sample
        case (.paused, .video), (.paused, .audioApp), (.paused, .audioMic): return .discard
        case (.live, .paused): return .pause
        case (.paused, .resumed): return .resume
        case (_, .paused), (_, .resumed): return .skip
        case (_, .annotated): return .annotate
        case (_, .sharedMemory): return .share
        case (_, .finished): return .finish
        case (_, .welcome), (_, .state), (_, .error), (_, .goodbye), (_, .released), (_, .counters):
            throw unexpected("only a daemon sends this message")
        }
    }
}
