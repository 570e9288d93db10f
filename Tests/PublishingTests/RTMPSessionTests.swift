import Endpoints
import FLV
@testable import Publishing
import SeededRandom
import Testing

/// A command message in the form that a server sends.
func command(_ values: AMF0Value...) -> RTMPMessage {
    var writer = AMF0Writer()
    for value in values { writer.value(value) }
    return RTMPMessage(type: .commandAMF0, streamID: 0, payload: writer.bytes)
}

func status(_ code: String, level: String = "status", text: String? = nil) -> RTMPMessage {
    var info = [AMF0Property("level", .string(level)), AMF0Property("code", .string(code))]
    if let text { info.append(AMF0Property("description", .string(text))) }
    return command(.string("onStatus"), .number(0), .null, .object(info))
}

func reconnectRequest(to tcURL: String?) -> RTMPMessage {
    var info = [
        AMF0Property("level", .string("status")),
        AMF0Property("code", .string("NetConnection.Connect.ReconnectRequest")),
    ]
    if let tcURL { info.append(AMF0Property("tcUrl", .string(tcURL))) }
    return command(.string("onStatus"), .number(0), .null, .object(info))
}

let connectResult = command(
    .string("_result"), .number(1), .object([AMF0Property("fmsVer", .string("FMS/3,0,1,123"))]),
    .object([AMF0Property("level", .string("status")), AMF0Property("code", .string("NetConnection.Connect.Success"))]))
let createStreamResult = command(.string("_result"), .number(4), .null, .number(1))
let publishStart = status("NetStream.Publish.Start", text: "Start publishing")

@Suite struct RTMPSessionTests {
    private func session(_ messages: RTMPMessage...) throws -> RTMPSession {
        var session = RTMPSession(window: 2_500_000)
        for message in messages { _ = try session.receive(message) }
        return session
    }

    @Test func goesFromConnectToMedia() throws {
        var session = RTMPSession(window: 2_500_000)
        #expect(try session.receive(connectResult) == .createStream)
        #expect(try session.receive(command(.string("onBWDone"), .number(0), .null)) == .none)
        #expect(try session.receive(command(.string("_error"), .number(2), .null, .undefined)) == .none)
        #expect(try session.receive(command(.string("_result"), .number(3), .null)) == .none)
        #expect(try session.receive(createStreamResult) == .publish(streamID: 1))
        #expect(session.phase == .startingPublish)
        #expect(try session.receive(publishStart) == .beginMedia)
        #expect(session.phase == .live && session.streamID == 1)
        session.beginUnpublishing()
        #expect(try session.receive(status("NetStream.Unpublish.Success")) == .unpublished)
    }

    /// A write to a socket whose sending direction is closed breaks the connection, and sent bytes count as lost.
    @Test func nothingIsAnsweredAfterUnpublishing() throws {
        let ping = RTMPMessage(type: .userControl, streamID: 0, payload: [0, 6, 0, 0, 0, 9])
        let window = RTMPMessage(type: .windowAcknowledgementSize, streamID: 0, payload: [0, 0, 0x10, 0])
        let bandwidth = RTMPMessage(type: .setPeerBandwidth, streamID: 0, payload: [0, 0, 0x10, 0, 2])
        var session = try session(connectResult, createStreamResult, publishStart, window)
        #expect(try session.receive(ping) == .pong(9))
        #expect(session.acknowledgementDue(received: 5000) == 5000)
        session.beginUnpublishing()
        #expect(try session.receive(ping) == .none)
        #expect(try session.receive(bandwidth) == .none)
        #expect(session.acknowledgementDue(received: 50_000) == nil)
    }

    /// librtmp searches a missing description for words: a null dereference that any server can cause.
    @Test func errorRepliesWithAndWithoutDescription() throws {
        let bare = command(.string("_error"), .number(1), .null, .null)
        var first = try session()
        #expect(try first.receive(bare) == .failed(RTMPRejection(subject: .connect, code: "", text: "")))
        #expect(first.phase == .over)
        var second = try session()
        let info = AMF0Value.object([
            AMF0Property("level", .string("error")), AMF0Property("code", .string("NetConnection.Connect.Rejected")),
            AMF0Property("description", .string("[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ")),
        ])
        #expect(try second.receive(command(.string("_error"), .number(1), .null, info)) == .failed(RTMPRejection(
            subject: .connect, code: "NetConnection.Connect.Rejected",
            text: "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ")))
        var third = try session(connectResult)
        #expect(try third.receive(command(.string("_error"), .number(4)))
            == .failed(RTMPRejection(subject: .createStream, code: "", text: "")))
        var fourth = try session(connectResult, createStreamResult)
        #expect(try fourth.receive(command(.string("_error"), .number(5), .null, .null))
            == .failed(RTMPRejection(subject: .publish, code: "", text: "")))
    }

    @Test func statusByName() throws {
        func after(_ message: RTMPMessage, live: Bool) throws -> RTMPSession.Action {
            var session = try live
                ? session(connectResult, createStreamResult, publishStart) : session(connectResult, createStreamResult)
            return try session.receive(message)
        }
        let badName = status("NetStream.Publish.BadName", level: "error", text: "Already publishing")
        guard case .failed(let rejection) = try after(badName, live: false) else { throw SomethingElse() }
        #expect(rejection.isNameInUse && rejection.subject == .publish && rejection.text == "Already publishing")
        for (code, level, live) in [
            ("NetStream.Publish.Rejected", "error", false), ("NetStream.Publish.Denied", "error", false),
            ("NetStream.Failed", "error", true), ("NetConnection.Connect.Closed", "status", true),
            ("NetStream.Unpublish.Success", "status", true), ("Anything.Unheard.Of", "error", true),
        ] {
            let rejection = RTMPRejection(subject: live ? .stream : .publish, code: code, text: "")
            #expect(try after(status(code, level: level), live: live) == .failed(rejection))
        }
        for code in ["NetStream.Data.Start", "NetStream.Play.Reset", "NetStream.Publish.Start", "Anything.Unheard.Of"] {
            #expect(try after(status(code), live: true) == .none)
        }
        #expect(try after(command(.string("close")), live: true)
            == .failed(RTMPRejection(subject: .stream, code: "", text: "")))
        #expect(try after(status("NetConnection.Connect.ReconnectRequest"), live: true)
            == .reconnectRequested(tcURL: nil))
    }

    private struct SomethingElse: Error {}

    @Test func resultsForNothingAreIgnored() throws {
        var session = try session()
        #expect(try session.receive(createStreamResult) == .none)
        #expect(try session.receive(publishStart) == .none)
        #expect(try session.receive(command(.string("_result"), .number(77))) == .none)
        #expect(try session.receive(command(.string("_result"))) == .none)
        #expect(session.phase == .connecting)
        _ = try session.receive(connectResult)
        #expect(try session.receive(connectResult) == .none)
        #expect(session.phase == .creatingStream)
    }

    @Test(arguments: [0, -1, 1.5, 4_294_967_296, Double.nan, Double.infinity])
    func badStreamNumbers(_ number: Double) throws {
        var session = try session(connectResult)
        #expect(throws: RTMPProtocolError.self) {
            try session.receive(command(.string("_result"), .number(4), .null, .number(number)))
        }
    }

    @Test func pingsAndWindows() throws {
        var session = try session()
        func control(_ type: RTMPMessageType, _ payload: [UInt8]) throws -> RTMPSession.Action {
            try session.receive(RTMPMessage(type: type, streamID: 0, payload: payload))
        }
        #expect(try control(.userControl, [0, 6, 1, 2, 3, 4]) == .pong(0x0102_0304))
        #expect(try control(.userControl, [0, 0, 0, 0, 0, 1]) == .none)
        #expect(throws: RTMPProtocolError.badControlMessage(type: 4, bytes: 3)) { try control(.userControl, [0, 6, 1]) }
        #expect(throws: RTMPProtocolError.badControlMessage(type: 4, bytes: 1)) { try control(.userControl, [0]) }
        #expect(try control(.setPeerBandwidth, [0, 0x4c, 0x4b, 0x40, 2]) == .none, "a larger window changes nothing")
        #expect(try control(.setPeerBandwidth, [0, 0, 0x10, 0, 2]) == .confirmWindow(4096))
        #expect(throws: RTMPProtocolError.self) { try control(.setPeerBandwidth, [0, 0, 0, 1]) }
        #expect(throws: RTMPProtocolError.self) { try control(.windowAcknowledgementSize, []) }
        #expect(session.acknowledgementDue(received: 1 << 30) == nil)
        _ = try session.receive(RTMPMessage(type: .windowAcknowledgementSize, streamID: 0, payload: [0, 0, 0, 1]))
        #expect(session.acknowledgementDue(received: 4095) == nil, "a window of one byte is not taken at its word")
        #expect(session.acknowledgementDue(received: 5000) == 5000)
        #expect(session.acknowledgementDue(received: 5001) == nil)
    }

    @Test func acknowledgementsGoOnBeyond32Bits() throws {
        var session = try session()
        for (count, total) in [
            (0x7000_0000, 0x7000_0000), (0xe000_0000, 0xe000_0000), (0x1000_0000, 0x1_1000_0000),
            (0x0fff_ffff, 0x1_1000_0000), (0x1000_0001, 0x1_1000_0001),
        ] as [(Int, UInt64)] {
            _ = try session.receive(
                RTMPMessage(type: .acknowledgement, streamID: 0, payload: ChunkWriter.bigEndian(count, 4)))
            #expect(session.acknowledgedBytes == total)
        }
    }

    @Test func commandsThatCannotBeRead() throws {
        var session = try session()
        for payload in [[], [5], [2, 0, 9, 65], [0x11, 1], [UInt8](repeating: 3, count: 300)] as [[UInt8]] {
            #expect(throws: RTMPProtocolError.self) {
                try session.receive(RTMPMessage(type: .commandAMF0, streamID: 0, payload: payload))
            }
        }
        #expect(throws: RTMPProtocolError.self) {
            try session.receive(RTMPMessage(type: .commandAMF3, streamID: 0, payload: [1] + connectResult.payload))
        }
        #expect(try session.receive(RTMPMessage(type: .commandAMF3, streamID: 0, payload: [0] + connectResult.payload))
            == .createStream)
    }

    /// For any input, the session answers or names the error.
    @Test(arguments: 0..<8) func survivesMutation(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let messages = [
            connectResult, createStreamResult, publishStart, status("NetStream.Publish.BadName", level: "error"),
            RTMPMessage(type: .userControl, streamID: 0, payload: [0, 6, 1, 2, 3, 4]),
        ]
        for _ in 0..<300 {
            var session = RTMPSession(window: 1000)
            for message in messages {
                var message = message
                for _ in 0..<Int.random(in: 0...3, using: &random) where !message.payload.isEmpty {
                    let index = Int.random(in: 0..<message.payload.count, using: &random)
                    if Bool.random(using: &random) {
                        message.payload[index] = UInt8.random(in: 0...255, using: &random)
                    } else {
                        message.payload.removeSubrange(index...)
                    }
                }
                if (try? session.receive(message)) == nil { break }
            }
        }
    }
}
