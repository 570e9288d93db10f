import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import SeededRandom
import Testing

/// Promise: whatever comes in at the socket gets an error with a code, never a crash, a hang or memory beyond the plan,
/// and the daemon takes the next client.
@Suite struct BadInputTests {
    struct Offence: Sendable {
        let name: String
        let code: ErrorCode
        let message: @Sendable (_ sequence: UInt32) -> WireBytes

        init(_ name: String, _ code: ErrorCode, _ message: @escaping @Sendable (_ sequence: UInt32) -> WireBytes) {
            self.name = name
            self.code = code
            self.message = message
        }
    }

    private static let payload = WireBytes.picture.payload
    private static let sound = [UInt8](repeating: 0, count: 40)

    /// As a connection's first message; all are fatal.
    static let firstMessages: [Offence] = [
        Offence("another protocol", .badMagic) { _ in
            WireBytes { $0 += Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) }
        },
        Offence("a version of the future", .unsupportedVersion) { _ in .started().header(2, 1, 9) },
        Offence("no version in common", .unsupportedVersion) { _ in .started().body(0, 2, 0x0302) },
        Offence("a video sample first", .unexpectedMessage) { _ in .video(0).followed(by: payload) },
        Offence("finished first", .unexpectedMessage) { _ in .finished(0) },
        Offence("no orientation convention", .orientationConvention) { _ in .started().body(2, 1, 0) },
        Offence("an unknown orientation convention", .orientationConvention) { _ in .started().body(2, 1, 77) },
        Offence("a body that is too short", .malformedBody) { _ in .started().cut(toBody: 8) },
        Offence("a name that is longer than its body", .malformedBody) { _ in .started().body(24, 2, 60) },
        Offence("a name beyond its limit", .malformedBody) { _ in .started().body(24, 2, 65_535) },
        Offence("an oversized body", .bodyTooLarge) { _ in .started().header(4, 2, 65_535) },
        Offence("a payload where none belongs", .payloadTooLarge) { _ in .started().header(8, 4, 1) },
        Offence("an unknown critical message", .unknownCriticalMessage) { _ in
            .started().header(3, 1, 0x55).header(6, 2, 1)
        },
        Offence("a sequence that begins late", .sequenceGap) { _ in .started(5) },
        Offence("a critical extension", .unsupportedExtension) { _ in
            .started().adding(extension: 0x8777, length: 0, value: [])
        },
        Offence("an extension past the end", .malformedExtension) { _ in
            .started().adding(extension: 0x0777, length: 400, value: [1, 2, 3, 4])
        },
    ]

    /// Within a broadcast; all end it.
    static let fatal: [Offence] = [
        Offence("garbage between messages", .badMagic) { _ in
            WireBytes { $0 += [UInt8](repeating: 0xee, count: 64) }
        },
        Offence("the largest payload that can be said", .payloadTooLarge) { .video($0).header(8, 4, 0xffff_ffff) },
        Offence("a payload with a pause", .payloadTooLarge) { .bare(.paused, $0).header(8, 4, 4) },
        Offence("an oversized body", .bodyTooLarge) { .video($0).header(4, 2, 4097) },
        Offence("a number left out", .sequenceGap) { .video($0 &+ 1).followed(by: payload) },
        Offence("a number twice", .sequenceGap) { .video($0 &- 1).followed(by: payload) },
        Offence("started again", .unexpectedMessage) { .started($0) },
        Offence("a daemon's message", .unexpectedMessage) { .bare(.paused, $0).header(3, 1, 0x81) },
    ]

    /// Within a broadcast; the message is refused and the broadcast goes on.
    static let refused: [Offence] = [
        Offence("a picture that is too small", .badPictureSize) {
            .video($0).body(8, 8, 0x0f_0000_000f).followed(by: payload)
        },
        Offence("a picture that is too wide", .badPictureSize) { .video($0).body(8, 4, 4097).followed(by: payload) },
        Offence("a picture of four thousand million pixels a row", .badPictureSize) {
            .video($0).body(8, 8, .max).followed(by: payload)
        },
        Offence("a picture without rows", .badPictureSize) { .video($0).body(12, 4, 0).followed(by: payload) },
        Offence("an unknown pixel format", .unsupportedPixelFormat) {
            .video($0).body(16, 4, 0x5858_5858).followed(by: payload)
        },
        Offence("a plane too few", .badPlaneLayout) { .video($0).body(23, 1, 2).followed(by: payload) },
        Offence("no stride", .badPlaneLayout) { .video($0).body(28, 4, 0).followed(by: payload) },
        Offence("an enormous stride", .badPlaneLayout) { .video($0).body(28, 4, 0xffff_fff0).followed(by: payload) },
        Offence("planes that overlap", .badPlaneLayout) { .video($0).body(32, 4, 8).followed(by: payload) },
        Offence("a plane behind the payload", .planeOutsidePayload) {
            .video($0).body(40, 4, 0x7fff_ffff).followed(by: payload)
        },
        Offence("a payload that is cut short", .planeOutsidePayload) {
            .video($0).header(8, 4, 100).followed(by: Array(payload.prefix(100)))
        },
        Offence("a picture without payload", .planeOutsidePayload) { .video($0).header(8, 4, 0) },
        Offence("an unknown colour matrix", .badColor) { .video($0).body(21, 1, 77).followed(by: payload) },
        Offence("an unknown colour range", .badColor) { .video($0).body(22, 1, 3).followed(by: payload) },
        Offence("a video body that is too short", .malformedBody) { .video($0).cut(toBody: 20).followed(by: payload) },
        Offence("more secure regions than there are bytes", .badSecureRegions) {
            WireBytes.video($0).adding(extension: 0x8001, length: 4, value: [1, 0, 0, 0]).followed(by: payload)
        },
        Offence("the same without the critical bit", .badSecureRegions) {
            WireBytes.video($0).adding(extension: 0x0001, length: 4, value: [1, 0, 0, 0]).followed(by: payload)
        },
        Offence("secure regions with a flag that nobody knows", .badSecureRegions) {
            WireBytes.video($0).adding(extension: 0x8001, length: 4, value: [0, 0, 2, 0]).followed(by: payload)
        },
        Offence("two lists of secure regions", .badSecureRegions) {
            WireBytes.video($0).adding(extension: 0x8001, length: 4, value: [0, 0, 0, 0])
                .adding(extension: 0x8001, length: 4, value: [0, 0, 0, 0]).followed(by: payload)
        },
        Offence("half an extension", .malformedExtension) {
            WireBytes.video($0).adding(extension: 3, length: 9, value: [0]).followed(by: payload)
        },
        Offence("sound that is not PCM", .unsupportedAudioFormat) {
            .audio($0).body(16, 4, 0x2063_6161).followed(by: sound)
        },
        Offence("unsigned samples", .unsupportedAudioFormat) { .audio($0).body(20, 4, 8).followed(by: sound) },
        Offence("a sample rate that is not a number", .unsupportedAudioFormat) {
            .audio($0).body(8, 8, .max).followed(by: sound)
        },
        Offence("an endless sample rate", .unsupportedAudioFormat) {
            .audio($0).body(8, 8, Double.infinity.bitPattern).followed(by: sound)
        },
        Offence("nine channels", .unsupportedAudioFormat) { .audio($0).body(36, 4, 9).followed(by: sound) },
        Offence("frames that do not fit their samples", .inconsistentAudioFormat) {
            .audio($0).body(32, 4, 3).followed(by: sound)
        },
        Offence("more frames than bytes", .audioPayloadMismatch) {
            .audio($0).body(48, 4, 0xffff_ffff).followed(by: sound)
        },
        Offence("no frames", .audioPayloadMismatch) { .audio($0).body(48, 4, 0).followed(by: sound) },
        Offence("an annotation without a key", .malformedBody) { .annotated($0).cut(toBody: 4).body(0, 4, 0) },
        Offence("an annotation longer than its body", .malformedBody) { .annotated($0).body(2, 2, 1000) },
    ]

    /// A client that the daemon serves, once it has let go of the one before.
    private func nextClient(_ daemon: Daemon) throws -> CaptureClient {
        try waitFor("the daemon to take the next client", within: 15, evidence: { String(daemon.log.suffix(800)) }) {
            let client = try CaptureClient(socket: daemon.ingestSocket)
            do { try client.start() } catch {
                guard client.errors.contains(where: { $0.code == .busy }) else { throw error }
                return nil
            }
            return client
        }
    }

    private func expectFatal(_ offence: Offence, from client: CaptureClient, sequence: UInt32) throws {
        try client.sendRaw(offence.message(sequence).bytes)
        try client.waitForEnd()
        let error = client.errors.last
        #expect(error?.code == offence.code, "\(offence.name): \(String(describing: error))")
        #expect(error?.isFatal == true, "\(offence.name)")
        #expect((error?.text.count ?? 0) > 20, "\(offence.name): an error says what was wrong")
    }

    @Test(.inItsTurn) func everyOffenceGetsItsCode() async throws {
        try await blocking {
            let stage = try Stage()
            for offence in Self.firstMessages {
                // A client that was put out leaves at once, but its successor may be quicker.
                try waitFor("\(offence.name) to be judged") {
                    let client = try CaptureClient(socket: stage.daemon.ingestSocket)
                    try? client.sendRaw(offence.message(0).bytes)
                    try client.waitForEnd()
                    if client.errors.contains(where: { $0.code == .busy }) { return false }
                    #expect(client.errors.map(\.code) == [offence.code], "\(offence.name): \(client.errors)")
                    #expect(client.errors.allSatisfy { $0.isFatal }, "\(offence.name)")
                    return true
                }
            }
            for offence in Self.fatal {
                let client = try nextClient(stage.daemon)
                try expectFatal(offence, from: client, sequence: client.sequence)
            }
            let client = try nextClient(stage.daemon)
            for offence in Self.refused {
                let number = client.sequence
                let bytes = offence.message(number).bytes
                try client.send { _, out in out += bytes }
                let error = try client.waitForReply("an error for \(offence.name)") { reply -> ErrorMessage? in
                    if case .error(let error) = reply, error.refersTo == number { error } else { nil }
                }
                #expect(error.code == offence.code && !error.isFatal, "\(offence.name): \(error)")
            }
            // The same connection still broadcasts, once the curtain that bad regions have raised is down again.
            let playback = Playback(client)
            try playback.bringLive(NumberedPictures.landscape(42))
            try waitFor("the curtain to fall") {
                try client.send(NumberedPictures.landscape(42), pts: playback.now)
                let privacy = try stage.daemon.status()["privacy"] as? [String: Any]
                return (privacy?["curtain"] as? [String: Any])?["up"] as? Bool == false
            }
            try client.send(NumberedPictures.landscape(42), pts: playback.now)
            #expect(try client.finish().reason == .finished)
            // Those before it left empty recordings, which the server may close after this one.
            try waitFor("a recording of it") {
                stage.server.recordings.contains { path in
                    guard let last = try? DecodedVideo.lastFrame(of: path) else { return false }
                    return NumberedPictures.number(in: last.image) == 42
                }
            }
            try stage.end()
        }
    }

    /// Connections that end in the middle of a header, a body or a payload, or say nothing at all.
    @Test(.inItsTurn) func truncatedAndSilentConnections() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.ingest["start_timeout_ms"] = "1000"
            let stage = try Stage(settings)
            let whole = WireBytes.started().bytes + WireBytes.video(1).bytes + WireBytes.picture.payload
            for length in [0, 1, 15, 16, 20, 40, 60, 90, whole.count - 1] {
                try waitFor("a connection of \(length) bytes to be judged") {
                    let client = try CaptureClient(socket: stage.daemon.ingestSocket)
                    try? client.sendRaw(Array(whole.prefix(length)))
                    client.closeSending()
                    try client.waitForEnd()
                    return !client.errors.contains { $0.code == .busy }
                }
            }
            let silent = try CaptureClient(socket: stage.daemon.ingestSocket)
            try silent.waitForEnd(within: 10)
            #expect(silent.errors.last?.code == .timedOut)
            try nextClient(stage.daemon).finish()
            try stage.end()
        }
    }

    /// A second client is refused in words, and the first notices nothing.
    @Test(.inItsTurn) func secondClientIsRefused() async throws {
        try await blocking {
            let stage = try Stage()
            let first = try stage.live(showing: NumberedPictures.landscape(1))
            let second = try CaptureClient(socket: stage.daemon.ingestSocket)
            try? second.sendRaw(WireBytes.started().bytes)
            try second.waitForEnd()
            #expect(second.errors.map(\.code) == [.busy])
            #expect(second.errors.first?.isFatal == true)
            try stage.show(NumberedPictures.landscape(2), orientation: .up, in: first)
            #expect(try first.client.finish().reason == .finished)
            try stage.checkRecording(stage.server.finishedRecording())
            try stage.end()
        }
    }

    /// Some seconds of sessions with seeded mutations: bytes flipped, cut, doubled, put in.
    @Test(.inItsTurn) func mutatedSessions() async throws {
        try await blocking {
            let stage = try Stage()
            try stage.live(showing: NumberedPictures.landscape(1)).client.finish()
            let before = try #require(stage.daemon.figures)
            var random = SplitMix64(seed: 2)
            let end = MonotonicClock().now() + .seconds(8)
            var (sessions, refusals) = (0, 0)
            while MonotonicClock().now() < end {
                var messages = Self.goodSession
                for _ in 0..<8 { spoilBody(&messages, &random) }
                // One that breaks the framing or the order ends the session where it stands.
                if Bool.random(using: &random) { spoilFraming(&messages, &random) }
                let client = try CaptureClient(socket: stage.daemon.ingestSocket)
                // The daemon may close while this is still being sent.
                try? client.sendRaw(messages.flatMap { $0 })
                client.closeSending()
                try client.waitForEnd(within: 20)
                sessions += 1
                refusals += client.errors.count
            }
            #expect(refusals > 0)
            #expect(stage.daemon.process.isRunning)
            let after = try #require(stage.daemon.figures)
            let (peakBefore, peakAfter) = (before.peakResidentBytes >> 10, after.peakResidentBytes >> 10)
            print("fuzz: \(sessions) sessions, \(refusals) errors, VmHWM \(peakBefore) -> \(peakAfter) KiB")
            // AddressSanitizer keeps freed memory for a while, so its daemon's figures say nothing.
            if ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] == nil {
                #expect(after.peakResidentBytes - before.peakResidentBytes < 8 << 20)
            }
            // The last broadcast may still be closing; a leak would show once for each session.
            #expect(after.openDescriptors <= before.openDescriptors + 10)
            try nextClient(stage.daemon).finish()
            try stage.end()
        }
    }

    private static let goodSession: [[UInt8]] = {
        var messages: [[UInt8]] = [WireBytes.started().bytes]
        for index in 0..<20 {
            let pts = MediaTime.milliseconds(Int64(index) * 33)
            messages.append(WireBytes.video(UInt32(messages.count), pts: pts).followed(by: payload).bytes)
            messages.append(WireBytes.audio(UInt32(messages.count), pts: pts).followed(by: sound).bytes)
            if index % 5 == 0 { messages.append(WireBytes.annotated(UInt32(messages.count)).bytes) }
        }
        messages.append(WireBytes.bare(.paused, UInt32(messages.count)).bytes)
        messages.append(WireBytes.bare(.resumed, UInt32(messages.count)).bytes)
        messages.append(WireBytes.finished(UInt32(messages.count)).bytes)
        return messages
    }()

    /// Overwrites one to eight bytes behind the header, where the numbers are that describe a sample.
    private func spoilBody(_ messages: inout [[UInt8]], _ random: inout SplitMix64) {
        let index = Int.random(in: 1..<messages.count, using: &random)
        let end = min(messages[index].count, 16 + 52)
        guard end > 16 else { return }
        let at = Int.random(in: 16..<end, using: &random)
        let value = [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
        let count = [1, 2, 4, 8].randomElement(using: &random)!
        for offset in at..<min(end, at + count) { messages[index][offset] = value }
    }

    private func spoilFraming(_ messages: inout [[UInt8]], _ random: inout SplitMix64) {
        let index = Int.random(in: 0..<messages.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: messages[index][Int.random(in: 0..<16, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: for offset in 8..<12 { messages[index][offset] = UInt8.random(in: 0...255, using: &random) }
        case 2: messages[index].removeSubrange(Int.random(in: 0..<messages[index].count, using: &random)...)
        case 3: messages[index].insert(contentsOf: [0x55, 0x43, 1, 2, 0xff, 0xff, 0], at: 0)
        case 4: messages.insert(messages[index], at: index)
        case 5: messages.remove(at: index)
        default: messages.swapAt(index, Int.random(in: 0..<messages.count, using: &random))
        }
    }
}
