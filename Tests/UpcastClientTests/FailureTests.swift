import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastClient

@Suite struct FailureTests {
    private static let setup = BroadcastSetup(clientName: "tests", convention: .exif)
    private static let pixels = [UInt8](repeating: 9, count: 64 * 64 * 4)

    private func sendFrame(_ connection: CaptureConnection, side: Int = 64) throws(CaptureError) {
        let format = try CaptureVideoFormat(.gray, width: side, height: side)
        try connection.sendVideo(Self.pixels.span.bytes, format: format, at: .zero)
    }

    private func error(_ body: () throws -> Void) -> CaptureError? {
        #expect(throws: CaptureError.self, performing: body)
    }

    @Test func nobodyListens() {
        let error = error { _ = try CaptureConnection(path: "/tmp/upcast-nobody-listens-here.sock") }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message.hasPrefix("/tmp/upcast-nobody-listens-here.sock does not exist") == true)
    }

    @Test func aSocketThatADaemonLeft() throws {
        let folder = try TemporaryDirectory("left")
        let path = folder.file("socket")
        do { _ = try UnixSocket.listen(path: path, mode: 0o600) }
        let error = error { _ = try CaptureConnection(path: path) }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message == "nothing listens at \(path): upcastd ended without removing it")
    }

    /// The control socket speaks HTTP.
    @Test func theWrongSocket() throws {
        let daemon = try TestDaemon { peer in
            _ = try peer.read()
            peer.write([UInt8]("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
        }
        let connection = try CaptureConnection(path: daemon.path)
        let error = error { _ = try connection.start(Self.setup) }
        #expect(error?.code == .cannotConnect && error?.message.hasPrefix("this is the control socket (HTTP)") == true)
        daemon.join()
    }

    /// The daemon closes without reading: the client's `started` may already fail, and the reason must be told anyway.
    @Test func aBusyDaemonIsToldApart() throws {
        let daemon = try TestDaemon { peer in
            peer.send {
                ErrorMessage(ProtocolError(.busy, fatal: true, "kiosk-2 is broadcasting"), refersTo: 0)
                    .encode(sequence: $0, into: &$1)
            }
        }
        let connection = try CaptureConnection(path: daemon.path)
        daemon.join()
        let error = error { _ = try connection.start(Self.setup) }
        #expect(error?.code == .busy && error?.message == "kiosk-2 is broadcasting" && error?.daemonCode == .busy)
    }

    @Test func aFatalErrorIsTheReasonOfTheBrokenPipe() throws {
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            _ = try peer.read()
            peer.send {
                ErrorMessage(ProtocolError(.broadcastFailed, fatal: true, "no encoder"), refersTo: 1)
                    .encode(sequence: $0, into: &$1)
            }
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(Self.setup)
        try sendFrame(connection)
        daemon.join()
        for _ in 0..<2 {
            let error = error { try sendFrame(connection) }
            #expect(error?.code == .refused && error?.message == "no encoder" && error?.daemonCode == .broadcastFailed)
        }
        #expect(self.error { _ = try connection.nextEvent() }?.code == .refused)
        #expect(self.error { _ = try connection.finish() }?.code == .refused)
    }

    @Test func aDaemonThatStopsSaysGoodbye() throws {
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            peer.goodbye(taken: 3)
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(Self.setup)
        daemon.join()
        let error = error { try sendFrame(connection) }
        #expect(error?.code == .ended && error?.message.contains("all sent") == true)
        #expect(try connection.finish().counters.framesTaken == 3)
        guard case .goodbye = try connection.nextEvent() else {
            Issue.record("a goodbye is told again")
            return
        }
    }

    /// The daemon's first half of a message must not be lost when the wait for it ends.
    @Test func eventsSurviveAnInterruptedRead() throws {
        let seen = Monitor(0)
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            var message: [UInt8] = []
            StateMessage(.slowDown, value: 15, text: "15 are enough").encode(sequence: 1, into: &message)
            peer.write(Array(message[..<9]))
            _ = seen.wait { $0 >= 1 ? true : nil }
            peer.write(Array(message[9...]))
            // A type of the future with a payload, a state of the future, and an error that is not fatal.
            message.removeAll()
            MessageHeader(rawType: 0xc0, bodyBytes: 4, payloadBytes: 5000, sequence: 2).encode(into: &message)
            peer.write(message + [UInt8](repeating: 0x55, count: 5004))
            message.removeAll()
            StateMessage(stateRaw: 77, value: 0, text: "new").encode(sequence: 3, into: &message)
            ErrorMessage(ProtocolError(.badColor, fatal: false, "odd"), refersTo: 6).encode(sequence: 4, into: &message)
            peer.write(message)
            message.removeAll()
            CountersMessage(framesTaken: 7, framesDropped: 2, audioSamples: 9).encode(sequence: 5, into: &message)
            peer.write(message)
            _ = try peer.read()
            message.removeAll()
            GoodbyeMessage(.failed, text: "", framesTaken: 0, framesDropped: 9, audioSamples: 1)
                .encode(sequence: 6, into: &message)
            peer.write(message)
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(Self.setup)
        #expect(try connection.nextEvent(timeout: .milliseconds(20)) == nil)
        seen.signal { $0 = 1 }
        let wait = Duration.seconds(10)
        let enough = CaptureEvent.state(.slowDown(framesPerSecond: 15), text: "15 are enough")
        #expect(try connection.nextEvent(timeout: wait) == enough)
        #expect(try connection.nextEvent(timeout: wait) == .state(.other(state: 77, value: 0), text: "new"))
        guard case .refused(let refusal) = try connection.nextEvent(timeout: wait) else {
            Issue.record("the refusal is told")
            return
        }
        #expect(refusal.code == .badColor && refusal.sequence == 6 && refusal.text == "odd")
        guard case .counters(let counters) = try connection.nextEvent(timeout: wait) else {
            Issue.record("the counters are told")
            return
        }
        #expect(counters.framesTaken == 7 && counters.framesDropped == 2 && counters.audioSamples == 9)
        #expect(try connection.finish().reason == .failed)
        daemon.join()
    }

    @Test func aDaemonThatDoesNotReadIsLeft() throws {
        let done = Monitor(false)
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            _ = done.wait { $0 ? true : nil }
        }
        let connection = try CaptureConnection(path: daemon.path, sendTimeout: .milliseconds(20))
        _ = try connection.start(Self.setup)
        let format = try CaptureVideoFormat(.bgra, width: 1920, height: 1080)
        let large = [UInt8](repeating: 1, count: format.payloadBytes)
        for _ in 0..<2 {
            let error = error { try connection.sendVideo(large.span.bytes, format: format, at: .zero) }
            #expect(error?.code == .timedOut)
        }
        done.signal { $0 = true }
        daemon.join()
    }

    @Test func callsAtTheWrongTimeSendNothing() throws {
        let count = Monitor(0)
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            while try peer.read().header.type != .finished { count.withLock { $0 += 1 } }
            peer.goodbye()
        }
        let connection = try CaptureConnection(path: daemon.path)
        #expect(error { try sendFrame(connection) }?.code == .wrongOrder)
        _ = try connection.start(Self.setup)
        #expect(error { _ = try connection.start(Self.setup) }?.code == .wrongOrder)
        try sendFrame(connection)
        _ = try connection.finish()
        #expect(error { try sendFrame(connection) }?.code == .wrongOrder)
        daemon.join()
        #expect(count.withLock { $0 } == 1)
    }

    @Test func whatTheDaemonWouldRefuseIsNotSent() throws {
        let daemon = try TestDaemon { peer in
            try peer.welcome(limits: IngestLimits(maxWidth: 48, maxHeight: 64, maxAudioPayload: 1000))
            _ = try peer.read()
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(Self.setup)
        #expect(error { try sendFrame(connection) }?.message == "video: 64x64 pixels; 16x16 to 48x64 are allowed")
        let stereo = try CaptureAudioFormat(sampleRate: 48_000, channels: 2, type: .int16)
        for bytes in [0, 3, 1004] {
            let pcm = [UInt8](repeating: 0, count: bytes)
            #expect(
                error { try connection.sendAudio(.app, pcm.span.bytes, format: stereo, at: .zero) }?.code
                    == .invalidArgument)
        }
        #expect(error { try connection.annotate("", "x") }?.code == .invalidArgument)
        let small = try CaptureVideoFormat(.i420, width: 16, height: 16)
        #expect(
            error { try connection.sendVideo([1, 2, 3].span.bytes, format: small, at: .zero) }?.code
                == .invalidArgument)
        let short = [UInt8](repeating: 0, count: 256)
        short.withUnsafeBytes { plane in
            let error = error { try connection.sendVideo(plane0: plane, plane1: plane, format: small, at: .zero) }
            #expect(error?.message == "plane 2 of I420 needs 64 bytes; 0 are there")
        }
        // The next message has the next number: nothing above reached the daemon.
        try sendFrame(connection, side: 48)
        daemon.join()
    }

    @Test(arguments: [(15, 16), (16, 4097), (0, 0), (-1, 64)])
    func formatsAreChecked(width: Int, height: Int) {
        #expect(error { _ = try CaptureVideoFormat(.bgra, width: width, height: height) }?.code == .invalidArgument)
    }

    @Test(arguments: [[64], [63, 32, 32], [64, 32, 65_537], [64, 32, -32]])
    func stridesAreChecked(strides: [Int]) {
        let error = error { _ = try CaptureVideoFormat(.i420, width: 64, height: 64, strides: strides) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(arguments: [
        [UInt8]("SSH-2.0-OpenSSH_9.2 Debian".utf8),
        [0x55, 0x43, 1, 0x81, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
    ])
    func nonsenseFromTheDaemonEndsIt(answer: [UInt8]) throws {
        let daemon = try TestDaemon { peer in
            _ = try peer.read()
            peer.write(answer)
        }
        let connection = try CaptureConnection(path: daemon.path)
        let error = error { _ = try connection.start(Self.setup) }
        #expect(error?.code == .disconnected && error?.message.contains("does not keep to the protocol") == true)
        daemon.join()
    }
}
