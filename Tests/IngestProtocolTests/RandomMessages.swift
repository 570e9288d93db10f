import SeededRandom
import IngestProtocol
import MediaCore

/// Valid messages with every field anywhere in its range.
extension AnyMessage {
    static func random(using generator: inout SplitMix64) -> (message: AnyMessage, payloadBytes: Int) {
        switch Int.random(in: 0..<14, using: &generator) {
        case 0:
            let low = UInt8.random(in: 0...1, using: &generator)
            let rate =
                Bool.random(using: &generator) ? nil : FrameRate(.random(in: 1...240_000, using: &generator), 1001)
            return (
                .started(
                    StartedMessage(
                        clientName: text(64, using: &generator),
                        convention: OrientationConvention.allCases.randomElement(using: &generator)!,
                        source: SourceKind.allCases.randomElement(using: &generator)!,
                        versions: low...UInt8.random(in: 1...255, using: &generator),
                        hintWidth: .random(in: 0...4096, using: &generator),
                        hintHeight: .random(in: 0...4096, using: &generator), hintRate: rate,
                        tracks: .init(rawValue: .random(in: 0...7, using: &generator)))), 0
            )
        case 1, 2: return video(using: &generator)
        case 3:
            let format = AudioFormat(
                sampleRate: .random(in: IngestLimits.audioRates, using: &generator),
                channels: .random(in: 1...8, using: &generator),
                encoding: PCMEncoding.allCases.randomElement(using: &generator)!,
                isBigEndian: .random(using: &generator), isInterleaved: .random(using: &generator))
            let message = AudioMessage(
                pts: MediaTime(nanoseconds: .random(in: .min ... .max, using: &generator)), format: format,
                frames: .random(in: 1...((512 << 10) / format.bytesPerFrame), using: &generator))
            return (.audio(AudioSource.allCases.randomElement(using: &generator)!, message), message.payloadBytes)
        case 4: return (.bare(Bool.random(using: &generator) ? .paused : .resumed), 0)
        case 5:
            let message = AnnotatedMessage(key: "k" + text(60, using: &generator), value: text(1024, using: &generator))
            return (.annotated(message), 0)
        case 6:
            let reason = UInt16.random(in: 0...9, using: &generator)
            return (.finished(FinishedMessage(reasonRaw: reason, text: text(99, using: &generator))), 0)
        case 7:
            return (
                .welcome(
                    WelcomeMessage(
                        limits: IngestLimits(maxWidth: .random(in: 16...4096, using: &generator)),
                        formats: PixelFormat.allCases.shuffled(using: &generator).map(\.fourCC).dropLast(3),
                        canvasWidth: 1280, canvasHeight: 720, frameRate: FrameRate(30_000, 1001), audioRate: 48_000,
                        broadcastID: text(64, using: &generator), takesDamage: .random(using: &generator))), 0
            )
        case 8:
            return (
                .error(
                    ErrorMessage(
                        codeRaw: .random(in: 0...99, using: &generator), isFatal: .random(using: &generator),
                        refersTo: .random(in: 0 ... .max, using: &generator), text: text(1024, using: &generator))), 0
            )
        case 9:
            return (
                .state(
                    StateMessage(
                        stateRaw: .random(in: 0...9, using: &generator),
                        value: .random(in: 0 ... .max, using: &generator),
                        text: text(200, using: &generator))), 0
            )
        case 10:
            return (
                .counters(
                    CountersMessage(
                        framesTaken: .random(in: 0 ... .max, using: &generator), framesDropped: 1, audioSamples: .max)),
                0
            )
        case 11:
            let message = SharedMemoryMessage(
                pool: .random(in: 0 ... .max, using: &generator), byteCount: .random(in: 0 ... .max, using: &generator))
            return (.sharedMemory(message), 0)
        case 12: return (.released(ReleasedMessage(sequence: .random(in: 0 ... .max, using: &generator))), 0)
        default:
            return (
                .goodbye(
                    GoodbyeMessage(
                        reasonRaw: .random(in: 0...9, using: &generator), text: text(80, using: &generator),
                        framesTaken: .random(in: 0 ... .max, using: &generator), framesDropped: 1, audioSamples: .max)),
                0
            )
        }
    }

    static func video(using generator: inout SplitMix64) -> (message: AnyMessage, payloadBytes: Int) {
        let pixelFormat = PixelFormat.allCases.randomElement(using: &generator)!
        let width = Int.random(in: 16...4096, using: &generator)
        let height = Int.random(in: 16...4096, using: &generator)
        let range = pixelFormat.rangeOfName ?? ColorRange.allCases.randomElement(using: &generator)!
        let color = ColorDescription(matrix: ColorMatrix.allCases.randomElement(using: &generator)!, range: range)
        var format = VideoSampleFormat(
            width: width, height: height, pixelFormat: pixelFormat, color: color, plane0: .none)
        var offset = Int.random(in: 0...64, using: &generator)
        for index in 0..<pixelFormat.planeCount {
            let rowBytes = pixelFormat.plane(index).rowBytes(pictureWidth: width)
            let stride = rowBytes + Int.random(in: 0...512, using: &generator)
            format.setPlane(index, PlaneLocation(offset: offset, stride: stride))
            offset += format.planeBytes(index) + Int.random(in: 0...64, using: &generator)
        }
        let message = VideoMessage(
            pts: MediaTime(nanoseconds: .random(in: .min ... .max, using: &generator)), format: format,
            orientationRaw: .random(in: 0...255, using: &generator))
        guard Bool.random(using: &generator) else { return (.video(message), offset) }
        var shared = message
        if Bool.random(using: &generator) {
            var damage = PictureDamage()
            for _ in 0..<Int.random(in: 1...PictureDamage.capacity, using: &generator) {
                let x = Int.random(in: 0..<width, using: &generator)
                let y = Int.random(in: 0..<height, using: &generator)
                _ = damage.add(
                    .init(
                        x: UInt16(x), y: UInt16(y), width: .random(in: 1...UInt16(width - x), using: &generator),
                        height: .random(in: 1...UInt16(height - y), using: &generator)))
            }
            shared.damage = DamageField(since: .random(in: 0 ... .max, using: &generator), damage: damage)
        }
        shared.shared = SharedPayload(
            pool: .random(in: 0 ... .max, using: &generator), offset: .random(in: 0 ... .max, using: &generator),
            byteCount: UInt64(offset), guardOffset: .random(in: 0 ... .max, using: &generator),
            generation: .random(in: 0 ... .max, using: &generator))
        return (.video(shared), 0)
    }

    /// At most `limit` bytes, with characters of one to four bytes.
    private static func text(_ limit: Int, using generator: inout SplitMix64) -> String {
        let alphabet: [Character] = ["a", "Z", " ", "\"", "é", "ß", "→", "語", "🎥"]
        var text = ""
        for _ in 0..<Int.random(in: 0...limit, using: &generator) {
            let next = alphabet.randomElement(using: &generator)!
            if text.utf8.count + next.utf8.count > limit { break }
            text.append(next)
        }
        return text
    }
}
