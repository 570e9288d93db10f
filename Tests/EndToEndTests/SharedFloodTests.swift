import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a client that floods the daemon with pictures in shared memory, and waits for nothing, keeps nobody from
/// ending its broadcast.
@Suite struct SharedFloodTests {
    private static let side = 4096
    private static let pictureBytes = side * side * 4

    private func healthz(_ stage: Stage) throws -> Int {
        try UnixHTTPClient.ask("GET", "/healthz", socket: stage.daemon.controlSocket).status
    }

    @Test(.inItsTurn) func stopEndsIt() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let memory = try OfferedMemory(name: "flood", byteCount: 4096 + Self.pictureBytes)
            try client.share(memory, as: 1)
            let place = SharedPayload(
                pool: 1, offset: 4096, byteCount: UInt64(Self.pictureBytes), guardOffset: 0, generation: 0)
            let message = VideoMessage(
                pts: .zero, format: VideoSampleFormat(packed: .bgra, width: Self.side, height: Self.side),
                orientationRaw: 1, shared: place)
            let flooded = Monitor(false)
            // A picture's message has some 130 bytes: hundreds wait in the socket. It ends when the daemon closes.
            Thread.detachNewThread {
                var next = message
                while true {
                    next.pts += .milliseconds(33)
                    let message = next
                    do { try client.send { message.encode(sequence: $0, payloadBytes: 0, into: &$1) } } catch { break }
                }
                flooded.signal { $0 = true }
            }
            try waitFor("pictures", evidence: { stage.daemon.log }) {
                #expect(try healthz(stage) == 200)
                return try stage.daemon.receivedPictures() > 3
            }
            let answer = try UnixHTTPClient.ask("POST", "/stop", socket: stage.daemon.controlSocket)
            #expect(answer.status == 200, "\(answer)")
            try waitFor("the broadcast's end", within: 1, evidence: { stage.daemon.log }) {
                stage.daemon.log.contains("broadcast ending")
            }
            let goodbye = try client.waitForReply("a goodbye") {
                if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
            }
            #expect(goodbye.reason == .endedByOperator)
            #expect(try healthz(stage) == 200)
            #expect(flooded.wait(until: Patience.deadline(10)) { $0 ? true : nil } == true)
            // The next one is served.
            try stage.live(showing: NumberedPictures.landscape(1)).client.finish()
            try stage.end()
        }
    }
}
