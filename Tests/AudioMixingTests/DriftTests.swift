import MediaCore
import Testing

@testable import AudioMixing

@Suite struct DriftTests {
    /// A source whose crystal runs at another rate than its PTS say, 47,990 samples for each of their seconds and
    /// worse: clicks that a listener at the PTS would hear at 2 Hz must come out within 10 ms of where they belong.
    @Test(arguments: [47_990.0, 48_010, 47_952, 48_048])
    func staysWithinTenMillisecondsOfItsTimes(actualRate: Double) throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let rig = try MixerRig(AudioMixerSettings(sampleRate: 8_000, channels: 1))
        let seconds = 60
        var worst = 0.0
        for block in 0..<(seconds * 50) {
            let begin = Double(block) * 960 / actualRate
            let samples: [Float] = (0..<960).map { index in
                let time = begin + Double(index) / actualRate
                let sinceClick = time - (time * 2).rounded() / 2
                // A pulse of 4 ms that 8 kHz can carry.
                return Float(max(0, 0.5 * (1 - abs(sinceClick) / 0.002)))
            }
            rig.advance(to: MediaTime(nanoseconds: Int64((begin + 0.03) * 1e9)))
            try rig.submit(format, PCMEncoder.bytes(samples, format), at: MediaTime(nanoseconds: Int64(begin * 1e9)))
        }
        rig.finish()
        let output = rig.output[0]
        for half in 1..<(seconds * 2 - 1) {
            let around = half * 4000 - 1000..<half * 4000 + 1000
            let peak = around.max { output[$0] < output[$1] }!
            #expect(output[peak] > 0.4)
            worst = max(worst, abs(Double(peak - half * 4000)) / 8000)
        }
        #expect(worst <= 0.010)
        let counters = rig.mixer.counters.app
        #expect(counters.gaps == 0)
        #expect(counters.overlaps == 0)
        #expect(counters.lateFrames == 0)
        #expect(abs(Double(counters.driftPartsPerMillion) - (48_000 / actualRate - 1) * 1e6) < 100)
    }

    @Test func correctionIsSmooth() throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .float32)
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 960 * 400, rate: 48_000)
        for block in 0..<400 {
            // 1,000 ppm, set in at once.
            let begin = MediaTime(nanoseconds: Int64(Double(block) * 0.020 * 1.001 * 1e9))
            rig.advance(to: begin + .milliseconds(30))
            try rig.submit(format, PCMEncoder.bytes(Array(tone[block * 960..<(block + 1) * 960]), format), at: begin)
        }
        rig.finish()
        #expect(rig.largestStep(1000..<380_000) < 0.0292)
        let heard = Tone.measure(rig.output[0][330_000..<370_000], frequency: 439.56, rate: 48_000)
        #expect(abs(heard.frequency - 439.56) < 0.1)
    }

    @Test func controllerIsBoundedAndSettles() {
        var controller = DriftController()
        var position = 0.0
        for _ in 0..<3000 {
            // 300 ppm too fast, less the correction, in blocks of 20 ms.
            position += 0.020 * (300e-6 + Double(controller.partsPerMillion) * 1e-6)
            controller.observe(deviation: position, elapsed: 0.020)
        }
        #expect(abs(controller.partsPerMillion + 300) <= 2)
        #expect(abs(position - 0.0012) < 0.0001)
        for _ in 0..<1000 { controller.observe(deviation: -1e9, elapsed: 1) }
        #expect(controller.partsPerMillion == 5000)
    }
}
