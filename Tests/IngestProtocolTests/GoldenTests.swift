import IngestProtocol
import MediaCore
import Testing

/// The exact bytes of each message: a change here is a change of the protocol, and needs a new version.
@Suite struct GoldenTests {
    static let messages: [(AnyMessage, payloadBytes: Int, hex: String)] = [
        (
            .started(
                StartedMessage(
                    clientName: "kiosk", convention: .replayKit, source: .screen, hintWidth: 1080, hintHeight: 1920,
                    hintRate: FrameRate(30_000, 1001), tracks: [.video, .audioMic])), 0,
            """
            5543 01 01 2400 0000 00000000 2a000000
            01 01 02 01 38040000 80070000 30750000 e9030000 05000000 0500 0000
            6b696f736b 000000
            """
        ),
        (
            .video(
                VideoMessage(
                    pts: MediaTime(nanoseconds: 1_000_000_001),
                    format: VideoSampleFormat(
                        width: 17, height: 19, pixelFormat: .nv12FullRange,
                        color: ColorDescription(matrix: .bt601, range: .full),
                        plane0: PlaneLocation(offset: 0, stride: 32),
                        plane1: PlaneLocation(offset: 1024, stride: 64)), orientation: .left)), 2048,
            """
            5543 01 02 3400 0000 00080000 2a000000
            01ca9a3b00000000 11000000 13000000 34323066 08 06 02 02
            00000000 20000000 00040000 40000000 00000000 00000000 00000000
            """
        ),
        (
            .audio(
                .app,
                AudioMessage(
                    pts: MediaTime(nanoseconds: -1),
                    format: AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true),
                    frames: 1024)),
            4096,
            """
            5543 01 03 3400 0000 00100000 2a000000
            ffffffffffffffff 0000000080 88e540 6c70636d 0e000000 04000000 01000000 04000000 02000000 10000000 00000000
            00040000
            """
        ),
        (
            .audio(
                .microphone,
                AudioMessage(
                    pts: .zero,
                    format: AudioFormat(sampleRate: 48_000, channels: 3, encoding: .float32, isInterleaved: false),
                    frames: 2)), 24,
            """
            5543 01 04 3400 0000 18000000 2a000000
            0000000000000000 000000000070e740 6c70636d 29000000 04000000 01000000 04000000 03000000 20000000 00000000
            02000000
            """
        ),
        (.bare(.paused), 0, "5543 01 05 0000 0000 00000000 2a000000"),
        (.bare(.resumed), 0, "5543 01 06 0000 0000 00000000 2a000000"),
        (
            .annotated(AnnotatedMessage(key: "title", value: "Zürich")), 0,
            "5543 01 07 1000 0000 00000000 2a000000 0500 0700 7469746c65 5ac3bc72696368"
        ),
        (
            .finished(FinishedMessage(reason: .userStopped, text: "bye")), 0,
            "5543 01 08 0800 0000 00000000 2a000000 0100 0300 627965 00"
        ),
        (
            .welcome(
                WelcomeMessage(
                    limits: IngestLimits(maxWidth: 1920, maxHeight: 1080), formats: [FourCC("420v"), FourCC("BGRA")],
                    canvasWidth: 1280, canvasHeight: 720, frameRate: FrameRate(30), audioRate: 48_000,
                    broadcastID: "b-17")),
            0,
            """
            5543 01 81 3c00 0000 00000000 2a000000
            01 02 0000 80070000 38040000 0010c200 00000800 00100000
            00050000 d0020000 1e000000 01000000 80bb0000 0400 0000
            34323076 42475241 622d3137
            """
        ),
        (
            .state(StateMessage(.slowDown, value: 15, text: "15 are enough")), 0,
            "5543 01 82 1800 0000 00000000 2a000000 0500 0d00 0f000000 31352061726520656e6f756768 000000"
        ),
        (
            .error(ErrorMessage(ProtocolError(.busy, fatal: true, "busy"), refersTo: 3)), 0,
            "5543 01 83 1000 0000 00000000 2a000000 0800 01 00 03000000 0400 0000 62757379"
        ),
        (
            .goodbye(GoodbyeMessage(.finished, text: "", framesTaken: 300, framesDropped: 2, audioSamples: 480_000)), 0,
            """
            5543 01 84 2000 0000 00000000 2a000000
            0000 0000 00000000 2c01000000000000 0200000000000000 0053070000000000
            """
        ),
        (
            .counters(CountersMessage(framesTaken: 300, framesDropped: 2, audioSamples: 480_000)), 0,
            "5543 01 86 1800 0000 00000000 2a000000 2c01000000000000 0200000000000000 0053070000000000"
        ),
        (
            .sharedMemory(SharedMemoryMessage(pool: 3, byteCount: 8192)), 0,
            "5543 01 09 1000 0000 00000000 2a000000 03000000 00000000 0020000000000000"
        ),
        (
            .video(
                VideoMessage(
                    pts: .zero,
                    format: VideoSampleFormat(
                        packed: .gray, width: 64, height: 64, color: ColorDescription(matrix: .bt601, range: .video)),
                    orientationRaw: 0,
                    shared: SharedPayload(pool: 3, offset: 4096, byteCount: 4096, guardOffset: 64, generation: 7))), 0,
            """
            5543 01 02 6000 0000 00000000 2a000000
            0000000000000000 40000000 40000000 47524559 00 06 01 01
            00000000 40000000 00000000 00000000 00000000 00000000 00000000
            0280 2800 03000000 00000000 0010000000000000 0010000000000000 4000000000000000 0700000000000000
            """
        ),
        (
            .welcome(
                WelcomeMessage(
                    limits: IngestLimits(maxWidth: 1920, maxHeight: 1080), formats: [FourCC("420v")],
                    canvasWidth: 1280, canvasHeight: 720, frameRate: FrameRate(30), audioRate: 48_000,
                    broadcastID: "b-17", sharedMemory: SharedMemoryOffer(maxPools: 4, maxPoolBytes: 1 << 29))), 0,
            """
            5543 01 81 4c00 0000 00000000 2a000000
            01 01 0000 80070000 38040000 0010c200 00000800 00100000
            00050000 d0020000 1e000000 01000000 80bb0000 0400 0000
            34323076 622d3137 0400 1000 04000000 00000000 0000002000000000
            """
        ),
        (
            .released(ReleasedMessage(sequence: 0xffff_fffe)), 0,
            "5543 01 85 0800 0000 00000000 2a000000 feffffff 00000000"
        ),
    ]

    @Test(arguments: messages.indices)
    func bytesAreExact(index: Int) throws {
        let (message, payloadBytes, text) = Self.messages[index]
        #expect(hex(message.encoded(sequence: 42, payloadBytes: payloadBytes)) == hex(bytes(hex: text)))
        #expect(try AnyMessage.decode(bytes(hex: text)).message == message)
    }

    @Test func everyTypeIsHere() {
        #expect(Set(Self.messages.map { bytes(hex: $0.hex)[3] }) == Set(MessageType.allCases.map(\.rawValue)))
    }
}
