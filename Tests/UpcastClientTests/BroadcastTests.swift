import IngestProtocol
import LinuxSystem
import MediaCore
import Testing
import UpcastClient

@Suite struct BroadcastTests {
    private static let setup = BroadcastSetup(clientName: "tests", convention: .replayKit)

    private static func ramp(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test func everythingArrivesAsItWasSent() throws {
        let record = Record<Peer.Message>()
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            while true {
                let message = try peer.read()
                record.append(message)
                if message.header.type == .finished { break }
            }
            peer.goodbye(taken: 2)
        }
        let connection = try CaptureConnection(path: daemon.path)
        let welcome = try connection.start(Self.setup)
        #expect(welcome.broadcastID == "test" && welcome.canvas == CaptureSize(width: 1280, height: 720))

        let padded = try CaptureVideoFormat(.i420, width: 17, height: 19, strides: [32, 16, 16], range: .full)
        let frame = Self.ramp(padded.payloadBytes + 3)
        try connection.sendVideo(frame.span.bytes, format: padded, at: .nanoseconds(5), orientation: .left)

        let separate = try CaptureVideoFormat(
            .nv12VideoRange, width: 64, height: 32, strides: [80, 96], matrix: .bt2020)
        let (luma, chroma) = (Self.ramp(80 * 32), Self.ramp(96 * 16))
        try luma.withUnsafeBytes { luma throws in
            try chroma.withUnsafeBytes { chroma throws in
                try connection.sendVideo(plane0: luma, plane1: chroma, format: separate, at: .nanoseconds(-6))
            }
        }
        let pcm = Self.ramp(48)
        let format = try CaptureAudioFormat(
            sampleRate: 44_100, channels: 2, type: .int24, bigEndian: true, interleaved: false)
        try connection.sendAudio(.microphone, pcm.span.bytes, format: format, at: .nanoseconds(7))
        try connection.pause()
        try connection.annotate("title", "Zürich")
        try connection.resume()
        let goodbye = try connection.finish(.userStopped, text: "enough")
        daemon.join()

        #expect(goodbye.reason == .finished && goodbye.counters.framesTaken == 2 && goodbye.text == "all sent")
        let messages = record.all
        #expect(messages.map(\.header.type) == [.video, .video, .audioMic, .paused, .annotated, .resumed, .finished])

        let first = try video(messages[0])
        #expect(first.pts.nanoseconds == 5 && first.orientation == .left && first.format == padded.layout)
        #expect(messages[0].payload == frame)

        let second = try video(messages[1])
        #expect(second.orientationRaw == 0 && second.format.color.matrix == .bt2020)
        #expect(second.format.plane1 == PlaneLocation(offset: 80 * 31 + 64, stride: 96))
        #expect(messages[1].payload == Array(luma[..<(80 * 31 + 64)]) + Array(chroma[..<(96 * 15 + 64)]))

        let (third, fifth, last) = (messages[2].body, messages[4].body, messages[6].body)
        let sound = try AudioMessage.decode(body: third.span.bytes, payloadBytes: pcm.count, limits: .default)
        #expect(sound.frames == 8 && sound.format == format.format && messages[2].payload == pcm)
        let annotation = try AnnotatedMessage.decode(body: fifth.span.bytes)
        let finish = try FinishedMessage.decode(body: last.span.bytes)
        #expect(annotation.value == "Zürich" && finish.text == "enough")
    }

    private func video(_ message: Peer.Message) throws -> VideoMessage {
        try VideoMessage.decode(
            body: message.body.span.bytes, payloadBytes: message.payload.count, limits: .default)
    }

    @Test func hintsAndConventionAreTold() throws {
        let record = Record<Peer.Message>()
        let daemon = try TestDaemon { peer in record.append(try peer.read()) }
        let connection = try CaptureConnection(path: daemon.path)
        var setup = BroadcastSetup(clientName: "kiosk", convention: .exif, source: .mirroring)
        setup.expectedSize = CaptureSize(width: 1080, height: 1920)
        setup.expectedRate = CaptureFrameRate(30_000, 1001)
        setup.sendsMicrophone = true
        let error = #expect(throws: CaptureError.self) { try connection.start(setup) }
        daemon.join()
        #expect(error?.code == .disconnected)
        let body = try #require(record.all.first).body
        let started = try StartedMessage.decode(body: body.span.bytes)
        let expected = StartedMessage(
            clientName: "kiosk", convention: .exif, source: .mirroring, hintWidth: 1080, hintHeight: 1920,
            hintRate: FrameRate(30_000, 1001), tracks: [.video, .audioMic])
        #expect(started == expected)
    }

    /// Two threads, one connection: messages must not interleave, and the numbers must not have gaps.
    @Test func twoThreadsSendWholeMessages() throws {
        let record = Record<Bool>()
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            while true {
                let message = try peer.read()
                if message.header.type == .finished { break }
                // Each payload is one byte over and over, so a foreign piece inside would show.
                record.append(message.payload.allSatisfy { $0 == message.payload[0] })
            }
            peer.goodbye()
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(Self.setup)
        let (pictures, sounds) = (60, 600)
        let failures = Record<String>()
        let sound = try WorkerThread(name: "sound") {
            do {
                let format = try CaptureAudioFormat(sampleRate: 48_000, channels: 2, type: .float32)
                for index in 0..<sounds {
                    let pcm = [UInt8](repeating: UInt8(index % 251), count: 3840)
                    try connection.sendAudio(.app, pcm.span.bytes, format: format, at: .nanoseconds(index))
                }
            } catch { failures.append("\(error)") }
        }
        let format = try CaptureVideoFormat(.bgra, width: 320, height: 240)
        for index in 0..<pictures {
            let pixels = [UInt8](repeating: UInt8(index), count: format.payloadBytes)
            try connection.sendVideo(pixels.span.bytes, format: format, at: .nanoseconds(index), orientation: .up)
        }
        sound.join()
        _ = try connection.finish()
        daemon.join()
        #expect(failures.all.isEmpty)
        #expect(record.all.count == pictures + sounds && record.all.allSatisfy { $0 })
    }
}
