import Buffering
import LinuxSystem
import MediaCore
import Testing

/// What a reader thread hands back.
private final class Reading: Sendable {
    let decoder = Monitor(TestDecoder())
    let ended = Monitor(false)
}

@Suite struct PacketLogThreadTests {
    /// Video and audio threads write at once while several readers of different speed read: run under
    /// ThreadSanitizer this is the proof that the lock covers everything.
    @Test func writersAndReadersOnTheirOwnThreads() throws {
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 60_000, maxDuration: .seconds(3), maxPackets: 256))
        let wanted = Monitor(0)
        log.onKeyframeWanted = { wanted.withLock { $0 += 1 } }
        let readings = (0..<3).map { _ in Reading() }
        let cursors = readings.map { _ in log.makeCursor() }
        var threads: [WorkerThread] = []
        for (index, reading) in readings.enumerated() {
            let cursor = cursors[index]
            threads.append(try WorkerThread(name: "reader-\(index)") {
                var buffer = PacketBuffer(limit: 4_000)
                var spin = 0
                while true {
                    let (result, payload) = read(cursor, &buffer, until: nil)
                    switch result {
                    case .packet(let info, _): reading.decoder.withLock { $0.take(info, payload) }
                    case .ended: return reading.ended.withLock { $0 = true }
                    case .woken, .timeout: break
                    }
                    // Readers 1 and 2 are slower, so that shedding and eviction happen too.
                    for _ in 0..<(index * 5_000) { spin &+= 1 }
                }
            })
        }
        let audioWriter = try WorkerThread(name: "audio-writer") {
            for index in 0..<3_000 {
                let time = MediaTime.microseconds(Int64(index) * 21_333)
                var payload = [UInt8](repeating: 0, count: 16)
                for byte in 0..<8 { payload[byte] = UInt8(truncatingIfNeeded: (index + 1) >> (56 - 8 * byte)) }
                let info = PacketInfo(track: .audio, pts: time, dts: time, priority: .audio)
                log.write(info, payload: payload.span.bytes)
            }
        }
        let videoWriter = try WorkerThread(name: "video-writer") {
            var stream = TestVideo()
            for _ in 0..<2_000 { stream.write(to: log) }
        }
        for _ in 0..<200 {
            for cursor in cursors {
                _ = (cursor.drops, cursor.backlog, log.statistics)
                cursor.wake()
            }
        }
        audioWriter.join()
        videoWriter.join()
        log.end()
        for thread in threads { thread.join() }
        for reading in readings {
            #expect(reading.ended.withLock { $0 })
            #expect(reading.decoder.withLock { $0.complaint } == nil)
        }
    }
}

/// Video only, keyframe every 30 frames, each frame naming the one before.
private struct TestVideo {
    var number = 0

    mutating func write(to log: PacketLog) {
        let isKeyframe = number % 30 == 0
        let time = MediaTime.milliseconds(Int64(number) * 33)
        number += 1
        var payload = [UInt8](repeating: 0, count: 16 + number % 700)
        for byte in 0..<8 { payload[byte] = UInt8(truncatingIfNeeded: number >> (56 - 8 * byte)) }
        for byte in 0..<8 { payload[8 + byte] = UInt8(truncatingIfNeeded: (number - 1) >> (56 - 8 * byte)) }
        for index in 16..<payload.count { payload[index] = UInt8(truncatingIfNeeded: number &* 31 &+ (index - 16)) }
        let info = PacketInfo(track: .video, pts: time, dts: time, priority: isKeyframe ? .keyframe : .reference)
        log.write(info, payload: payload.span.bytes)
    }
}
