internal import Endpoints
internal import FLV

/// A server's refusal, or its notice that the stream has ended.
struct RTMPRejection: Error, Equatable, Sendable {
    enum Subject: Sendable { case connect, createStream, publish, stream }

    var subject: Subject
    /// The status code, such as "NetStream.Publish.BadName"; empty if the server sent none.
    var code: String
    /// The server's description. It may contain anything, even the stream key.
    var text: String

    /// Whether another publisher uses the name, which may become free.
    var isNameInUse: Bool { code == "NetStream.Publish.BadName" }
}

/// The publisher's side of the RTMP command exchange: takes messages and returns actions. No I/O and no clock.
///
/// connect -> createStream -> publish -> live
struct RTMPSession: Sendable {
    enum Phase: Equatable, Sendable {
        case connecting
        case creatingStream
        case startingPublish
        case live
        /// The publisher unpublishes. The end of the stream is then not an error.
        case unpublishing
        case over
    }

    enum Action: Equatable, Sendable {
        case none
        /// Send Set Chunk Size and Window Acknowledgement Size, then releaseStream, FCPublish and createStream.
        case createStream
        case publish(streamID: UInt32)
        case beginMedia
        /// Answer the ping with this number.
        case pong(UInt32)
        /// Send this window to the server (RTMP 1.0, 5.4.5).
        case confirmWindow(UInt32)
        /// The server redirects the publisher: to `tcURL`, or to the same URL if nil.
        case reconnectRequested(tcURL: String?)
        case unpublished
        case failed(RTMPRejection)
    }

    private(set) var phase = Phase.connecting
    private(set) var streamID: UInt32?
    /// Bytes that the server has acknowledged, extended beyond 32 bits; nil before its first acknowledgement.
    private(set) var acknowledgedBytes: UInt64?
    /// The number of received bytes after which we acknowledge; nil if the server did not ask.
    private var acknowledgeEvery: UInt64?
    private var acknowledgedToPeer: UInt64 = 0
    private var announcedWindow: UInt32

    /// - Parameter window: the acknowledgement window that the server is sent, in bytes.
    init(window: UInt32) { announcedWindow = window }

    /// Notes that unpublishing has begun; nothing is sent in answer afterwards.
    mutating func beginUnpublishing() { phase = .unpublishing }
    private var isSending: Bool { phase != .unpublishing && phase != .over }

    /// The byte count to acknowledge now; nil for none. `received` counts all bytes read from the server.
    mutating func acknowledgementDue(received: UInt64) -> UInt32? {
        guard isSending, let acknowledgeEvery, received - acknowledgedToPeer >= acknowledgeEvery else { return nil }
        acknowledgedToPeer = received
        return UInt32(truncatingIfNeeded: received)
    }

    mutating func receive(_ message: RTMPMessage) throws(RTMPProtocolError) -> Action {
        switch message.type {
        case .acknowledgement: try acknowledge(word(of: message, bytes: 4))
        case .windowAcknowledgementSize:
            // With a window of one byte, we would acknowledge each acknowledgement.
            acknowledgeEvery = UInt64(max(4096, try word(of: message, bytes: 4)))
        case .setPeerBandwidth:
            let window = try word(of: message, bytes: 5)
            guard window < announcedWindow, window > 0 else { return .none }
            announcedWindow = window
            return isSending ? .confirmWindow(window) : .none
        case .userControl: return try userControl(message)
        case .commandAMF0: return try unsafe command(message.payload.span.bytes)
        case .commandAMF3:
            guard message.payload.first == 0 else { throw .badCommand("AMF3 where AMF0 was expected") }
            return try unsafe command(message.payload.span.bytes.extracting(1...))
        case .setChunkSize, .abort, .audio, .video, .dataAMF0: break
        }
        return .none
    }

    private func word(of message: RTMPMessage, bytes: Int) throws(RTMPProtocolError) -> UInt32 {
        guard message.payload.count == bytes, let word = message.word(at: 0) else {
            throw .badControlMessage(type: message.type.rawValue, bytes: message.payload.count)
        }
        return word
    }

    private mutating func acknowledge(_ count: UInt32) {
        let last = acknowledgedBytes ?? 0
        let step = count &- UInt32(truncatingIfNeeded: last)
        // The count wraps at 4 GiB. A step of more than half of that goes back.
        if step <= UInt32.max / 2 { acknowledgedBytes = last + UInt64(step) }
    }

    private func userControl(_ message: RTMPMessage) throws(RTMPProtocolError) -> Action {
        guard message.payload.count >= 2 else {
            throw .badControlMessage(type: message.type.rawValue, bytes: message.payload.count)
        }
        let event = Int(message.payload[0]) << 8 | Int(message.payload[1])
        guard event == 6 else { return .none }
        guard let number = message.word(at: 2) else {
            throw .badControlMessage(type: message.type.rawValue, bytes: message.payload.count)
        }
        return isSending ? .pong(number) : .none
    }

    // MARK: Commands

    private mutating func command(_ bytes: RawSpan) throws(RTMPProtocolError) -> Action {
        let values: [AMF0Value]
        do { values = try AMF0Reader.values(in: bytes) } catch { throw .badCommand("\(error)") }
        guard let name = values.first?.stringValue else { throw .badCommand("it has no name") }
        let transaction = values.count > 1 ? values[1].numberValue : nil
        // The information object is last; the values before it differ between servers.
        let info = values.dropFirst(2).last { $0["code"] != nil || $0["description"] != nil }
        let code = info?["code"]?.stringValue ?? ""
        switch name {
        // Some servers send an error as a result.
        case "_result" where info?["level"]?.stringValue == "error": return error(of: transaction, code, info)
        case "_result": return try result(of: transaction, values)
        case "_error": return error(of: transaction, code, info)
        case "onStatus": return status(code, info)
        case "close": return ended(code, info)
        default: return .none
        }
    }

    private mutating func result(of transaction: Double?, _ values: [AMF0Value]) throws(RTMPProtocolError) -> Action {
        switch (phase, transaction) {
        case (.connecting, RTMPCommand.Transaction.connect):
            phase = .creatingStream
            return .createStream
        case (.creatingStream, RTMPCommand.Transaction.createStream):
            guard let number = values.dropFirst(3).first?.numberValue, let id = UInt32(exactly: number), id > 0,
                id <= Int32.max
            else { throw .badCommand("createStream's result has no stream number") }
            streamID = id
            phase = .startingPublish
            return .publish(streamID: id)
        default: return .none
        }
    }

    private mutating func error(of transaction: Double?, _ code: String, _ info: AMF0Value?) -> Action {
        switch (phase, transaction) {
        case (.connecting, RTMPCommand.Transaction.connect): return reject(.connect, code, info)
        case (.creatingStream, RTMPCommand.Transaction.createStream): return reject(.createStream, code, info)
        case (.startingPublish, RTMPCommand.Transaction.publish): return reject(.publish, code, info)
        // releaseStream and FCPublish are optional, and many servers do not know them.
        default: return .none
        }
    }

    private mutating func status(_ code: String, _ info: AMF0Value?) -> Action {
        switch code {
        case "NetStream.Publish.Start":
            guard phase == .startingPublish else { return .none }
            phase = .live
            return .beginMedia
        case "NetConnection.Connect.ReconnectRequest": return .reconnectRequested(tcURL: info?["tcUrl"]?.stringValue)
        case "NetStream.Unpublish.Success", "NetConnection.Connect.Closed", "NetConnection.Connect.AppShutdown":
            return ended(code, info)
        default:
            guard info?["level"]?.stringValue == "error" || code == "NetStream.Publish.BadName" else { return .none }
            let subject: RTMPRejection.Subject =
                switch phase {
                case .connecting: .connect
                case .creatingStream: .createStream
                case .startingPublish: .publish
                case .live, .unpublishing, .over: .stream
                }
            return phase == .unpublishing ? .none : reject(subject, code, info)
        }
    }

    private mutating func ended(_ code: String, _ info: AMF0Value?) -> Action {
        guard phase == .unpublishing else { return reject(.stream, code, info) }
        phase = .over
        return .unpublished
    }

    private mutating func reject(_ subject: RTMPRejection.Subject, _ code: String, _ info: AMF0Value?) -> Action {
        phase = .over
        let text = info?["description"]?.stringValue ?? ""
        return .failed(RTMPRejection(subject: subject, code: code, text: text))
    }
}
