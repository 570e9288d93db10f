import IngestProtocol
import Testing

@Suite struct SessionStateTests {
    private typealias Admission = SessionState.Admission

    /// Feeds a session with messages whose sequence numbers are right.
    private func run(_ types: [UInt8]) throws(ProtocolError) -> (state: SessionState, admissions: [Admission]) {
        var state = SessionState()
        var admissions: [Admission] = []
        for (index, type) in types.enumerated() {
            admissions.append(try state.admit(MessageHeader(rawType: type, bodyBytes: 0, sequence: UInt32(index))))
            if admissions.last == .resume { state.resume() }
        }
        return (state, admissions)
    }

    @Test func aWholeBroadcast() throws {
        let (state, admissions) = try run([1, 2, 3, 4, 7, 5, 2, 3, 5, 7, 6, 6, 2, 0x30, 8])
        #expect(
            admissions == [
                .start, .sample, .sample, .sample, .annotate, .pause, .discard, .discard, .skip, .annotate, .resume,
                .skip,
                .sample, .skip, .finish,
            ])
        #expect(state.phase == .finished && state.nextSequence == 15)
    }

    @Test func finishedWhilePaused() throws {
        #expect(try run([1, 5, 8]).state.phase == .finished)
    }

    /// A `resumed` whose body is refused ends no pause, and the next one still does.
    @Test func aResumedThatIsRefusedChangesNothing() throws {
        var (state, _) = try run([1, 5])
        func admit(_ type: MessageType) throws -> Admission {
            try state.admit(MessageHeader(type: type, bodyBytes: 0, sequence: state.nextSequence))
        }
        #expect(try admit(.resumed) == .resume)
        #expect(state.phase == .paused)
        #expect(try admit(.video) == .discard)
        #expect(try admit(.resumed) == .resume)
        state.resume()
        #expect(try admit(.video) == .sample)
    }

    @Test(
        arguments: [
            [2], [3], [8], [5], [0x30], [1, 1], [1, 8, 2], [1, 8, 8], [1, 8, 0x30], [0x81], [1, 0x82], [1, 5, 0x83],
            [1, 0x84],
        ] as [[UInt8]])
    func wrongOrderIsFatal(types: [UInt8]) {
        let error = #expect(throws: ProtocolError.self) { try run(types) }
        #expect(error?.code == .unexpectedMessage && error?.isFatal == true)
    }

    /// A refused message leaves the session as it was, so that the error can name the sequence number that was wanted.
    @Test(arguments: [0, 2, UInt32.max])
    func sequenceGapIsFatal(sequence: UInt32) throws {
        var (state, _) = try run([1])
        let before = state
        let error = #expect(throws: ProtocolError.self) {
            try state.admit(MessageHeader(type: .video, bodyBytes: 0, sequence: sequence))
        }
        #expect(error?.code == .sequenceGap && error?.isFatal == true)
        #expect(state == before)
    }
}
