import Foundation
import IngestProtocol
import MediaCore
import Testing

/// docs/protocol.md is what others write their clients from: its numbers and bytes are held against the code.
@Suite struct DocumentationTests {
    private let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
    }

    /// What the page's prose says of each block of its session.
    static let session: [(name: String, sequence: UInt32, message: AnyMessage, payload: [UInt8]?)] = [
        (
            "started", 0,
            .started(
                StartedMessage(
                    clientName: "example", convention: .exif, source: .screen, hintWidth: 16, hintHeight: 16,
                    hintRate: FrameRate(30), tracks: [.video, .audioApp])), nil
        ),
        (
            "welcome", 0,
            .welcome(
                WelcomeMessage(
                    limits: IngestLimits(maxWidth: 1920, maxHeight: 1080),
                    formats: [FourCC("420v"), FourCC("I420"), FourCC("BGRA")], canvasWidth: 1280, canvasHeight: 720,
                    frameRate: FrameRate(30), audioRate: 48_000, broadcastID: "b1")), nil
        ),
        (
            "video", 1,
            .video(
                VideoMessage(
                    pts: .seconds(1),
                    format: VideoSampleFormat(
                        packed: .i420, width: 16, height: 16,
                        color: ColorDescription(matrix: .bt601, range: .video)), orientation: .right)), nil
        ),
        (
            "audioApp", 2,
            .audio(
                .app,
                AudioMessage(
                    pts: .seconds(1),
                    format: AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16, isBigEndian: true),
                    frames: 4)), [0, 0, 0, 0, 0x10, 0, 0xf0, 0, 0x20, 0, 0xe0, 0, 0x30, 0, 0xd0, 0]
        ),
        ("finished", 3, .finished(FinishedMessage(reason: .userStopped)), nil),
        (
            "state", 1,
            .state(
                StateMessage(.curtainUp, value: CurtainCauses.awaitsPicture.rawValue, text: "no picture yet")), nil
        ),
        (
            "counters", 2,
            .counters(CountersMessage(framesTaken: 1, framesDropped: 0, audioSamples: 4)), nil
        ),
        (
            "goodbye", 3,
            .goodbye(
                GoodbyeMessage(.finished, text: "all sent", framesTaken: 1, framesDropped: 0, audioSamples: 4)), nil
        ),
    ]

    @Test(arguments: session.indices)
    func theSessionInHexIsReal(index: Int) throws {
        let (name, sequence, message, payload) = Self.session[index]
        let block = try #require(blocks(of: "hex \(name)").first)
        let written = bytes(hex: block)
        let decoded = try AnyMessage.decode(written)
        #expect(decoded.message == message)
        #expect(decoded.header.sequence == sequence)
        var encoded = message.encoded(sequence: sequence, payloadBytes: name == "video" ? 384 : 0)
        // The page leaves matrix and range to the defaults; this encoder always names them.
        if name == "video" { encoded.replaceSubrange(37...38, with: [0, 0]) }
        #expect(hex(written) == hex(encoded + (payload ?? [])))
    }

    @Test func everyErrorCodeIsListed() {
        let fatal: [ErrorCode: String] = Dictionary(
            uniqueKeysWithValues: ErrorCode.allCases.map { code in
                switch code.rawValue {
                case 9...11: (code, "session")
                case 20...39: (code, "no")
                default: (code, "yes")
                }
            })
        let rows = table(under: "| code | name | fatal | |")
        #expect(rows.count == ErrorCode.allCases.count)
        for code in ErrorCode.allCases {
            #expect(rows.contains { $0.starts(with: ["\(code.rawValue)", "\(code)", fatal[code] ?? ""]) }, "\(code)")
        }
    }

    @Test func everyMessageTypeIsListed() {
        let rows = table(under: "| type | name | from | payload at most |")
        for type in MessageType.allCases {
            let limit = IngestLimits.default.maxPayload(of: type)
            let row = rows.first { $0[0] == "0x" + hex([type.rawValue]) }
            #expect(row?[1] == type.description && row?[2] == (type.isFromClient ? "client" : "daemon"))
            #expect(row?[3].replacingOccurrences(of: ",", with: "").hasPrefix("\(limit)") == true, "\(type)")
        }
    }

    @Test func everyStateAndFormatIsListed() {
        let states = table(under: "| state | name | value | what a client may do |")
        #expect(states.map { "\($0[0]) \($0[1])" } == BroadcastState.allCases.map { "\($0.rawValue) \($0)" })
        let formats = table(under: "| FourCC | planes | rows x bytes of a row | |")
        #expect(
            formats.map { "\($0[0]) \($0[1])" } == PixelFormat.allCases.map { "`\($0.fourCC)` \($0.planeCount)" })
    }

    @Test func everyOrientationIsListed() {
        let words: [UprightTransform: String] = [
            .identity: "nothing", .mirrorHorizontal: "mirror left to right", .rotate180: "turn 180",
            .mirrorVertical: "mirror top to bottom", .transpose: "transpose", .rotate90Clockwise: "turn 90 clockwise",
            .transverse: "transverse", .rotate270Clockwise: "turn 90 counter-clockwise",
        ]
        let expected = OrientationTag.allCases.map { tag in
            ["\(tag.rawValue)", "\(tag)"]
                + OrientationConvention.allCases.map { words[$0.uprightTransform(for: tag)] ?? "" }
        }
        #expect(table(under: "| tag | name | exif (1) | replaykit (2) |") == expected)
    }

    /// The offsets of a table's rows follow from their types, and end at what the code calls the fixed fields.
    @Test(arguments: [
        ("### 0x01 started", StartedMessage.fixedBytes), ("### 0x02 video", VideoMessage.fixedBytes),
        ("### 0x03 audioApp and 0x04 audioMic", AudioMessage.fixedBytes),
        ("### 0x07 annotated", AnnotatedMessage.fixedBytes), ("### 0x08 finished", FinishedMessage.fixedBytes),
        ("### 0x81 welcome", WelcomeMessage.fixedBytes), ("### 0x82 state", StateMessage.fixedBytes),
        ("### 0x83 error", ErrorMessage.fixedBytes), ("### 0x84 goodbye", GoodbyeMessage.fixedBytes),
        ("### 0x86 counters", CountersMessage.fixedBytes),
    ])
    func offsetsAddUp(heading: String, fixedBytes: Int) throws {
        let section = try #require(page.components(separatedBy: heading + "\n").last)
        let rows = Self.rows(section, under: "| offset | type | field | |")
        let sizes = ["u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8, "f64": 8, "FourCC": 4]
        var offset = 0
        for row in rows where offset < fixedBytes {
            #expect(row[0] == "\(offset)", "\(heading): \(row[2])")
            offset += sizes[row[1]] ?? 0
        }
        #expect(offset == fixedBytes)
    }

    private func table(under heading: String) -> [[String]] { Self.rows(page, under: heading) }

    private static func rows(_ text: String, under heading: String) -> [[String]] {
        let lines = text.components(separatedBy: "\n").drop { $0 != heading }
        return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func blocks(of kind: String) -> [String] {
        page.components(separatedBy: "```\(kind)\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }
}
