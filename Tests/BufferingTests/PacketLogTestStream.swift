import Buffering
import MediaCore
import SeededRandom
import Testing

/// A made-up encoder: writes video of random structure and audio to a log, every payload naming what it depends on.
///
/// Payload: 8 bytes of frame number, 8 bytes of the number of the reference frame it needs (its own for a keyframe),
/// then filler that follows from the number.
struct TestStream {
    var random: SplitMix64
    var keyframeInterval = 30
    var disposableShare = 0.3
    var largestFiller = 400
    private(set) var videoNumber: UInt64 = 0
    private(set) var audioNumber: UInt64 = 0
    private var lastReference: UInt64 = 0
    private var sinceKeyframe = 0
    private var clock = MediaTime.zero
    private var audioClock = MediaTime.zero
    var keyframeRequested = false

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// One video frame (33 ms) and the audio up to it (21 ms each).
    mutating func writeFrame(to log: PacketLog) {
        var priority = PacketPriority.reference
        if videoNumber == 0 || sinceKeyframe >= keyframeInterval || keyframeRequested {
            priority = .keyframe
            sinceKeyframe = 0
            keyframeRequested = false
        } else if Double.random(in: 0..<1, using: &random) < disposableShare {
            priority = .disposable
        }
        sinceKeyframe += 1
        videoNumber += 1
        let needs = priority == .keyframe ? videoNumber : lastReference
        if priority != .disposable { lastReference = videoNumber }
        let info = PacketInfo(track: .video, pts: clock, dts: clock, priority: priority)
        write(info, number: videoNumber, needs: needs, to: log)
        clock += .milliseconds(33)
        while audioClock < clock {
            audioNumber += 1
            let info = PacketInfo(track: .audio, pts: audioClock, dts: audioClock, priority: .audio)
            write(info, number: audioNumber, needs: audioNumber, to: log)
            audioClock += .microseconds(21_333)
        }
    }

    private mutating func write(_ info: PacketInfo, number: UInt64, needs: UInt64, to log: PacketLog) {
        var payload = [UInt8]()
        for shift in stride(from: 56, through: 0, by: -8) { payload.append(UInt8(truncatingIfNeeded: number >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { payload.append(UInt8(truncatingIfNeeded: needs >> shift)) }
        for index in 0..<Int.random(in: 0...largestFiller, using: &random) {
            payload.append(UInt8(truncatingIfNeeded: Int(number) &* 31 &+ index))
        }
        log.write(info, payload: payload.span.bytes)
    }
}

/// A made-up decoder: checks that everything it is given decodes, is in order, and is what was written.
struct TestDecoder {
    private(set) var video: [UInt64] = []
    private(set) var audio: [UInt64] = []
    private(set) var keyframes = 0
    private(set) var lastDTS: [Track: MediaTime] = [:]
    private(set) var largest = 0
    private var lastReference: UInt64?
    /// The first thing that was wrong.
    private(set) var complaint: String?

    mutating func take(_ info: PacketInfo, _ payload: [UInt8]) {
        guard payload.count >= 16 else { return complain("a payload of \(payload.count) bytes") }
        let number = payload[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let needs = payload[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        for (index, byte) in payload[16...].enumerated() {
            guard byte == UInt8(truncatingIfNeeded: Int(number) &* 31 &+ index) else {
                return complain("payload of \(number) is not what was written")
            }
        }
        if let last = lastDTS[info.track], info.dts <= last { complain("decode time \(info.dts) after \(last)") }
        lastDTS[info.track] = info.dts
        largest = max(largest, payload.count)
        guard info.track == .video else { return audio.append(number) }
        video.append(number)
        if info.isKeyframe {
            keyframes += 1
        } else if lastReference != needs {
            complain("frame \(number) needs \(needs), the decoder has \(lastReference.map(String.init) ?? "nothing")")
        }
        if info.priority != .disposable { lastReference = number }
    }

    private mutating func complain(_ text: String) { if complaint == nil { complaint = text } }
}

/// Reads one packet; a test that never sleeps asks with a deadline in the past.
func read(
    _ cursor: PacketCursor, _ buffer: inout PacketBuffer, until deadline: MediaTime? = .zero
) -> (CursorResult, [UInt8]) {
    let result = cursor.next(into: &buffer, headroom: 23, until: deadline)
    guard case .packet(_, let count) = result else { return (result, []) }
    return (result, buffer.withPayload { Array(UnsafeRawBufferPointer(start: $0, count: count)) })
}
