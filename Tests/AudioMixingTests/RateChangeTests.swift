import AudioMixing
import Foundation
import MediaCore
import Testing

/// A source whose sample rate changes from block to block loses nothing of its sound.
@Suite struct RateChangeTests {
    /// A tone in blocks of `block` whose rates take turns; its last seconds are measured.
    private func play(
        _ rates: [Int], block: MediaTime, frequency: Double = 1000, start: MediaTime, end: MediaTime
    ) throws -> (rig: MixerRig, heard: Tone.Measurement) {
        let rig = try MixerRig()
        var time = start
        var turn = 0
        while time < end {
            let rate = rates[turn % rates.count]
            turn += 1
            let frames = Int(block.nanoseconds * Int64(rate) / 1_000_000_000)
            let length = MediaTime(sample: Int64(frames), rate: rate)
            let format = AudioFormat(sampleRate: rate, channels: 1, encoding: .float32)
            let seconds = time.secondsAsDouble
            let samples = (0..<frames).map { index in
                Tone(frequency: frequency, level: 0.5).value(at: seconds + Double(index) / Double(rate))
            }
            rig.advance(to: time + length + .milliseconds(10))
            try rig.submit(format, PCMEncoder.bytes(samples, format), at: time)
            time += length
        }
        rig.finish()
        let heard = Tone.measure(rig.output[0].dropLast(4_800).suffix(76_800), frequency: frequency, rate: 48_000)
        return (rig, heard)
    }

    @Test(arguments: [[48_000], [44_100], [44_100, 48_000]], [20, 200])
    func alternatingRatesLoseNothing(rates: [Int], milliseconds: Int64) throws {
        let (rig, heard) = try play(
            rates, block: .milliseconds(milliseconds), start: .milliseconds(20), end: .seconds(2))
        let rest = -20 * log10(heard.impurity)
        print("\(rates) Hz every \(milliseconds) ms: the tone stands \(rest) dB above the rest")
        #expect(rest >= 70)
        #expect(abs(heard.decibels - -6.0206) < 0.01)
        let counters = rig.mixer.counters.app
        #expect(counters.gaps == 0 && counters.overlaps == 0 && counters.refusedBlocks == 0)
    }

    /// Blocks whose length is no whole number of frames of the broadcast, and that begin anywhere.
    @Test(arguments: [
        [44_100, 48_000], [32_000, 44_100, 48_000], [22_050, 96_000], [16_000, 48_000], [8000, 96_000], [8000, 192_000],
        [22_050, 192_000],
    ])
    func anyLengthAndRates(rates: [Int]) throws {
        let (rig, heard) = try play(
            rates, block: MediaTime(nanoseconds: 23_219_955), start: MediaTime(nanoseconds: 12_345_678),
            end: .seconds(10))
        let rest = -20 * log10(heard.impurity)
        print("\(rates) Hz in blocks of 23.2 ms: the tone stands \(rest) dB above the rest")
        #expect(rest >= 60)
        #expect(rig.mixer.counters.app.gaps == 0)
    }

    /// The shortest blocks that docs/protocol.md names.
    @Test(
        arguments: [
            ([8000, 192_000], 6), ([8000, 48_000], 6), ([16_000, 192_000], 3), ([16_000, 48_000], 3),
            ([44_100, 48_000], 3),
        ] as [([Int], Int64)])
    func shortBlocks(rates: [Int], milliseconds: Int64) throws {
        let (_, heard) = try play(
            rates, block: .milliseconds(milliseconds), start: .milliseconds(20), end: .seconds(3))
        #expect(-20 * log10(heard.impurity) >= 50)
        #expect(abs(heard.decibels - -6.0206) < 0.01)
    }
}
