internal import ArgumentParser
internal import IngestProtocol
internal import MediaCore

/// A message's header and body are read and checked, as for every frame and every block of PCM.
struct ProtocolBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protocol", abstract: "Nanoseconds of processor time for one message's header and body.")

    @Option(help: "Rounds; the median counts.") var rounds = 9
    @Option(help: "Messages in a round.") var messages = 200_000

    /// Nanoseconds at 30 frames a second.
    private static let frameInterval = 1e9 / 30

    func run() throws {
        guard let pixelFormat = PixelFormat.allCases.first(where: { "\($0.fourCC)" == "420v" }) else {
            throw ValidationError("there is no 420v")
        }
        let format = VideoSampleFormat(packed: pixelFormat, width: 1920, height: 1080)
        let time = MediaTime.milliseconds(123_456)
        var video = VideoMessage(pts: time, format: format, orientation: .right)
        var inline: [UInt8] = []
        video.encode(sequence: 7, payloadBytes: format.minimumPayloadBytes, into: &inline)
        video.shared = SharedPayload(
            pool: 0, offset: 4096, byteCount: UInt64(format.minimumPayloadBytes), guardOffset: 64, generation: 5)
        var shared: [UInt8] = []
        video.encode(sequence: 7, payloadBytes: 0, into: &shared)
        let block = AudioMessage(
            pts: time,
            format: AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true), frames: 1024)
        var audio: [UInt8] = []
        block.encode(.app, sequence: 7, into: &audio)

        let bodies: [() throws -> Void] = [
            { try Self.decodeVideo(inline) }, { try Self.decodeVideo(shared) }, { try Self.decodeAudio(audio) },
        ]
        let times = try Stopwatch.measure(rounds: rounds, count: messages, inTurn: bodies)
        for (name, timing) in zip(["video", "video in shared memory", "audio"], times) {
            let share = (timing.median / Self.frameInterval * 1e7).rounded() / 10
            print(
                #"{"bench": "protocol", "message": "\#(name)", "# + timing.fields(divisor: 1, unit: "ns")
                    + #", "parts_per_million_of_frame": \#(share)}"#)
        }
    }

    private static func decodeVideo(_ bytes: [UInt8]) throws {
        let (header, body) = try split(bytes)
        let message = try VideoMessage.decode(
            body: unsafe bytes.span.bytes.extracting(body), payloadBytes: header.payloadBytes, limits: .default)
        guard message.format.width == 1920 else { throw ValidationError("not the message that was encoded") }
    }

    private static func decodeAudio(_ bytes: [UInt8]) throws {
        let (header, body) = try split(bytes)
        let message = try AudioMessage.decode(
            body: unsafe bytes.span.bytes.extracting(body), payloadBytes: header.payloadBytes, limits: .default)
        guard message.frames == 1024 else { throw ValidationError("not the message that was encoded") }
    }

    private static func split(_ bytes: [UInt8]) throws -> (MessageHeader, Range<Int>) {
        let header = try unsafe MessageHeader.decode(bytes.span.bytes, limits: .default)
        return (header, MessageHeader.byteCount..<MessageHeader.byteCount + header.bodyBytes)
    }
}
