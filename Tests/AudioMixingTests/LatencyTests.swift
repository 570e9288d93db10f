import MediaCore
import Testing

@testable import AudioMixing

@Suite struct LatencyTests {
    @Test func growsToTheNeedAndShrinksSlowly() {
        var latency = MixingLatency(minimum: .milliseconds(60), maximum: .milliseconds(750))
        latency.advance(to: .zero)
        latency.observe(need: .milliseconds(40), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(60))
        // With less than the reserve to spare it grows before anything is lost.
        latency.observe(need: .milliseconds(58), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(73))
        latency.observe(need: .milliseconds(300), duration: .milliseconds(20))
        // An eighth more than it needed.
        #expect(latency.current == .microseconds(337_500))
        latency.observe(need: .seconds(3), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(750))

        var steps: [MediaTime] = []
        for second in 1...300 {
            latency.observe(need: .milliseconds(30), duration: .milliseconds(20))
            latency.advance(to: .seconds(Int64(second)))
            if steps.last != latency.current { steps.append(latency.current) }
        }
        #expect(latency.current == .milliseconds(60))
        #expect(steps.allSatisfy { $0 >= .milliseconds(60) })
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 > $1 && ($0 - $1) <= .milliseconds(173) })
        #expect(steps.count > 10)
    }

    @Test func keepsWhatTheLastSecondsNeeded() {
        var latency = MixingLatency(minimum: .milliseconds(60), maximum: .milliseconds(750))
        for second in 0...120 {
            latency.observe(need: .milliseconds(second % 7 == 0 ? 512 : 20), duration: .milliseconds(20))
            latency.advance(to: .seconds(Int64(second)))
        }
        #expect(latency.current == .milliseconds(576))
    }

    /// Lateness that creeps up, as when the broadcast clock follows a drift, costs no sample.
    @Test func creepingLatenessLosesNothing() throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let rig = try MixerRig()
        let samples = Tone(frequency: 440, level: 0.5).samples(count: 480_000, rate: 48_000)
        for block in 0..<(samples.count / 480) {
            let start = MediaTime.milliseconds(Int64(block * 10))
            // From 10 ms after the block's end to 400 ms.
            rig.advance(to: start + .milliseconds(20) + .microseconds(Int64(block * 390)))
            try rig.submit(format, PCMEncoder.bytes(Array(samples[block * 480..<(block + 1) * 480]), format), at: start)
        }
        rig.finish()
        #expect(rig.mixer.counters.app.lateFrames == 0)
        #expect(rig.mixer.counters.app.gaps == 0)
        #expect(rig.mixer.counters.latency > .milliseconds(400))
        #expect(rig.largestStep() < 0.03)
    }

    @Test func lateBlockLosesWhatWasRenderedAndNoMore() throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 9600, rate: 48_000)
        rig.advance(to: .milliseconds(300))
        let rendered = rig.output[0].count
        try rig.submit(format, PCMEncoder.bytes(tone, format), at: .milliseconds(150))
        rig.advance(to: .seconds(1))
        let ahead = 240
        #expect(abs(rig.mixer.counters.app.lateFrames - (rendered + ahead - 7200)) <= 1)
        #expect(rig.output[0][..<(rendered + ahead)].allSatisfy { $0 == 0 })
        #expect(Tone.measure(rig.output[0][(rendered + 600)..<16_700], frequency: 440, rate: 48_000).impurity < 0.002)
        #expect(rig.mixer.counters.latency == .milliseconds(175))
        // The next one as late as this is whole.
        rig.advance(to: .milliseconds(1150))
        try rig.submit(format, PCMEncoder.bytes(tone, format), at: .milliseconds(1000))
        let late = rig.mixer.counters.app.lateFrames
        rig.advance(to: .seconds(2))
        #expect(rig.mixer.counters.app.lateFrames == late)
    }
}
