/// How the broadcast is doing, with the number that goes with it.
package enum BroadcastState: UInt16, CaseIterable, Sendable {
    /// The destination is being connected; the value is the number of the attempt, from 1.
    case connecting = 1
    /// Packets reach the destination; the value is 0.
    case live = 2
    /// The network takes less than is encoded; the value is milliseconds in the queue.
    case congested = 3
    /// The connection was lost; the value is milliseconds until the next attempt.
    case reconnecting = 4
    /// The client sends more frames than are used. The value is a sufficient frame rate.
    case slowDown = 5
    /// The daemon accepts no more samples and sends queued packets. The value is the queue's duration in ms.
    case draining = 6
    /// Some destinations are not connected. The value is the number of connected ones.
    case degraded = 7
    /// Viewers see the curtain. The value has the causes as bits (`CurtainCauses`).
    case curtainUp = 8
    /// Viewers see the picture again. The value is 0.
    case curtainDown = 9
}

/// The holders of the curtain: the value of the state `curtainUp`. Other bits are reserved.
package struct CurtainCauses: OptionSet, Equatable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The client, because it is paused.
    package static let client = CurtainCauses(rawValue: 1 << 0)
    /// An app whose pictures may be among those that are sent.
    package static let app = CurtainCauses(rawValue: 1 << 1)
    package static let `operator` = CurtainCauses(rawValue: 1 << 2)
    /// The daemon itself, which waits for nothing that the client could send.
    package static let daemon = CurtainCauses(rawValue: 1 << 3)
    /// No complete picture that can be shown has arrived.
    package static let awaitsPicture = CurtainCauses(rawValue: 1 << 4)
}

/// A state of the daemon. It is advisory and needs no answer.
package struct StateMessage: Equatable, Sendable {
    package static let fixedBytes = 8

    /// The raw number. Clients ignore unknown numbers.
    package var stateRaw: UInt16
    /// The meaning depends on the state.
    package var value: UInt32
    /// A sentence of at most 1024 bytes.
    package let text: String

    package var state: BroadcastState? { BroadcastState(rawValue: stateRaw) }

    package init(_ state: BroadcastState, value: UInt32 = 0, text: String) {
        self.init(stateRaw: state.rawValue, value: value, text: text)
    }

    package init(stateRaw: UInt16, value: UInt32, text: String) {
        self.stateRaw = stateRaw
        self.value = value
        self.text = WireText.bounded(WireText.sanitised(text), to: IngestLimits.maxTextBytes)
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> StateMessage {
        try MessageBody.check(
            body, fixed: fixedBytes, texts: [.init(lengthAt: 2, limit: IngestLimits.maxTextBytes, name: "text")],
            in: .state, fatal: false)
        return StateMessage(
            stateRaw: body.uint16(at: 0), value: body.uint32(at: 4),
            text: WireText.decode(body, from: fixedBytes, lengthAt: 2))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.state, sequence: sequence) { bytes in
            bytes.append(littleEndian: stateRaw)
            bytes.append(littleEndian: UInt16(text.utf8.count))
            bytes.append(littleEndian: value)
            bytes.append(contentsOf: text.utf8)
            bytes.append(zeros: WireText.padding(after: text.utf8.count))
        }
    }
}
