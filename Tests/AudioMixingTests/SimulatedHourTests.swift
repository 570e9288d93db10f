import AudioMixing
import MediaCore
import SeededRandom
import Testing
import Timeline

/// An hour of a client whose host clock runs 300 ppm fast against ours, whose app audio runs 300 ppm slow and whose
/// microphone 300 ppm fast against that, with up to 50 ms of jitter at arrival, pauses and jumps.
///
/// Every two seconds, in turn, the app and the microphone click at the very time of a video frame. Where the frame and
/// the click come to stand on the broadcast's timeline must not differ by more than 40 ms.
@Suite struct SimulatedHourTests {
    /// What happens to the client's PTS and samples at a moment of its own clock, in seconds.
    private struct Incident {
        var at: Double
        /// Nothing is sent for so long.
        var pause = 0.0
        /// PTS change by so much at the end of the pause.
        var jump = 0.0
    }
    private static let incidents = [
        Incident(at: 300.5, jump: 90), Incident(at: 600.5, jump: -40), Incident(at: 900.5, pause: 20),
        Incident(at: 1200.5, pause: 60, jump: -60), Incident(at: 1500.5, jump: 1.5),
        Incident(at: 1800.5, pause: 1.25, jump: -1.25), Incident(at: 2100.5, jump: -7200),
        Incident(at: 2400.5, pause: 180), Incident(at: 2700.5, jump: -2.5), Incident(at: 3000.5, pause: 5, jump: 3600),
    ]
    private static let hostDrift = 300e-6
    private static let hour = 3600.0
    private static let clickPeriod = 2.0

    /// The offset of PTS from the client's clock at a moment of that; nil while it pauses.
    private static func ptsOffset(at time: Double) -> Double? {
        var offset = 1e6
        for incident in incidents where time >= incident.at {
            if time < incident.at + incident.pause { return nil }
            offset += incident.jump
        }
        return offset
    }

    /// One track's samples in the order of their arrival; times in seconds of the client's clock.
    private struct Source {
        let track: TimelineTrack
        /// Length of a sample on the client's clock, and as its format has it.
        let period: Double
        let duration: Double
        var index = 0
        var start = 0.0
        var arrival = 0.0
        var offset = 0.0
        var random: SplitMix64

        init(_ track: TimelineTrack, period: Double, duration: Double, seed: UInt64) {
            self.track = track
            self.period = period
            self.duration = duration
            random = SplitMix64(seed: seed)
            index = -1
            advance()
        }

        /// Goes to the next sample that is sent.
        mutating func advance() {
            repeat {
                index += 1
                start = Double(index) * period
            } while ptsOffset(at: start) == nil
            offset = ptsOffset(at: start) ?? 0
            let sent = (start + (track == .video ? 0 : period)) / (1 + hostDrift)
            arrival = max(arrival, sent + 0.010 + Double.random(in: 0...0.050, using: &random))
        }
    }

    @Test func audioAndVideoStayTogetherForAnHour() throws {
        let format = AudioFormat(sampleRate: 8_000, channels: 1, encoding: .int16, isBigEndian: true)
        // 23.25 ms, ReplayKit's block length, and twice that.
        let frames = (app: 186, microphone: 372)
        let mixer = try AudioMixer(settings: AudioMixerSettings(sampleRate: 8_000, channels: 1))
        var timeline = BroadcastTimeline()
        var sources = [
            Source(.video, period: 1.0 / 30, duration: 0, seed: 1),
            Source(
                .audioApp, period: Double(frames.app) / 8000 / (1 - 300e-6), duration: Double(frames.app) / 8000,
                seed: 2),
            Source(
                .audioMicrophone, period: Double(frames.microphone) / 8000 / (1 + 300e-6),
                duration: Double(frames.microphone) / 8000, seed: 3),
        ]
        let silence = (
            app: [UInt8](repeating: 0, count: frames.app * 2),
            microphone: [UInt8](repeating: 0, count: frames.microphone * 2)
        )
        var frameTimes: [Int: Double] = [:]
        var clicks: (app: [Double], microphone: [Double]) = ([], [])
        var scan = ClickScan()
        let arrivalBase = 5_000_000.0

        while let next = sources.indices.min(by: { sources[$0].arrival < sources[$1].arrival }),
            sources[next].arrival < Self.hour
        {
            let source = sources[next]
            let arrival = MediaTime(nanoseconds: Int64((source.arrival + arrivalBase) * 1e9))
            let placement = timeline.place(
                source.track, pts: MediaTime(nanoseconds: Int64((source.start + source.offset) * 1e9)),
                duration: MediaTime(nanoseconds: Int64(source.duration * 1e9)), arrival: arrival)
            let now = arrival - timeline.clockOffset
            while let block = mixer.render(broadcastNow: now) { scan.take(block, into: &clicks) }
            if source.track == .video {
                // A frame stands at a click when their client times agree.
                let click = (source.start / Self.clickPeriod).rounded()
                if placement.isAccepted, abs(source.start - click * Self.clickPeriod) < 1e-6 {
                    frameTimes[Int(click)] = placement.time.secondsAsDouble
                }
            } else {
                let isApp = source.track == .audioApp
                let count = isApp ? frames.app : frames.microphone
                let payload =
                    Self.clickPayload(start: source.start, period: source.period, frames: count, isApp: isApp)
                    ?? (isApp ? silence.app : silence.microphone)
                try payload.withUnsafeBytes {
                    try mixer.submit(
                        isApp ? .app : .microphone, format: format, payload: $0, time: placement.time,
                        broadcastNow: now)
                }
            }
            sources[next].advance()
        }
        while let block = mixer.flush(until: mixer.contentEnd) { scan.take(block, into: &clicks) }

        var worst = 0.0
        var compared = 0
        var lost: [Int] = []
        for (number, frame) in frameTimes.sorted(by: { $0.key < $1.key }) {
            let heard = number.isMultiple(of: 2) ? clicks.app : clicks.microphone
            guard let nearest = heard.min(by: { abs($0 - frame) < abs($1 - frame) }), abs(nearest - frame) < 0.5 else {
                lost.append(number)
                continue
            }
            compared += 1
            worst = max(worst, abs(nearest - frame))
        }
        let counters = mixer.counters
        print("simulated hour: \(compared) clicks, at most \(worst * 1000) ms from their frames, lost \(lost)")
        print("simulated hour: \(timeline.counters)")
        print("simulated hour: \(counters)")
        #expect(worst <= 0.040)
        #expect(compared > 1600)
        // Only the beginning, before the mixer knows how late the sources come, and the incidents cost anything.
        #expect(lost.allSatisfy { number in
            let time = Double(number) * Self.clickPeriod
            return time < 2 || Self.incidents.contains { time >= $0.at - 0.1 && time < $0.at + $0.pause + 1 }
        })
        #expect(timeline.counters.rebases == 8)
        #expect(timeline.counters.latenessRebases == 1)
        #expect(timeline.counters.refusedFrames < 10)
        #expect(counters.app.largestDeviation < .milliseconds(20))
        #expect(abs(counters.app.driftPartsPerMillion - 300) < 100)
        #expect(abs(counters.microphone.driftPartsPerMillion + 300) < 100)
    }

    /// The samples of a block that a click falls into; nil for silence. Even clicks are the app's and positive, odd
    /// ones are the microphone's and negative.
    private static func clickPayload(start: Double, period: Double, frames: Int, isApp: Bool) -> [UInt8]? {
        let nearest = ((start + period / 2) / clickPeriod).rounded()
        let number = Int(nearest)
        guard number.isMultiple(of: 2) == isApp, nearest * clickPeriod > start - 0.003,
            nearest * clickPeriod < start + period + 0.003
        else { return nil }
        var bytes: [UInt8] = []
        for frame in 0..<frames {
            let distance = abs(start + period * Double(frame) / Double(frames) - nearest * clickPeriod)
            let level = max(0, 1 - distance / 0.002) * 16_000 * (isApp ? 1 : -1)
            let sample = UInt16(bitPattern: Int16(level))
            bytes.append(UInt8(sample >> 8))
            bytes.append(UInt8(sample & 0xFF))
        }
        return bytes
    }

    /// Finds the peaks in what the mixer puts out.
    private struct ClickScan {
        private var peak: (level: Float, time: Double) = (0, 0)

        mutating func take(_ block: MixedBlock, into clicks: inout (app: [Double], microphone: [Double])) {
            let start = block.time.secondsAsDouble
            if !block.isSilent {
                let samples = block.channel(0)
                for index in 0..<block.frames where abs(samples[index]) > max(0.2, abs(peak.level)) {
                    peak = (samples[index], start + Double(index) / 8000)
                }
            }
            // A click is 4 ms long, a block 128 ms: with the block after it, it is whole.
            guard peak.level != 0, start + 0.128 - peak.time > 0.010 else { return }
            if peak.level > 0 { clicks.app.append(peak.time) } else { clicks.microphone.append(peak.time) }
            peak = (0, 0)
        }
    }
}
