import Foundation
import MediaCore
import Testing

@testable import AudioMixing

/// Promise: an operator can tell from figures whether there is sound, and how loud it is.
@Suite struct SoundLevelTests {
    private let window = 24_000

    private func block(_ samples: [Float]) -> SoundLevel.Block {
        var block = SoundLevel.Block()
        for sample in samples {
            block.peak = max(block.peak, abs(sample))
            block.sumOfSquares += sample * sample
        }
        return block
    }

    @Test func aSineHasItsPeakAndThreeDecibelsLess() {
        var level = SoundLevel()
        let sine = (0..<24_000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 48_000)) }
        for start in stride(from: 0, to: 24_000, by: 1000) {
            #expect(level.peak == 0, "a window counts when it is full")
            level.note(block(Array(sine[start..<start + 1000])), frames: 1000, channels: 1, fullWindow: window)
        }
        #expect(level.peakDecibels == -6.0 && level.rmsDecibels == -9.0 && level.silentFrames == 0)
    }

    @Test func silenceIsCountedUntilThereIsSound() {
        var level = SoundLevel()
        let quiet = block([0.0009])
        for _ in 0..<48 { level.note(quiet, frames: 1000, channels: 2, fullWindow: window) }
        #expect(level.silentFrames == 48_000)
        level.note(block([0.001]), frames: 1000, channels: 2, fullWindow: window)
        #expect(level.silentFrames == 0)
        for _ in 0..<100 { level.note(SoundLevel.Block(), frames: 1000, channels: 2, fullWindow: window) }
        #expect(level.silentFrames == 100_000)
        #expect(level.peakDecibels == SoundLevel.floor && level.rmsDecibels == SoundLevel.floor)
    }

    @Test func aMixersSourcesHaveTheirLevelsAfterTheGain() throws {
        var settings = AudioMixerSettings()
        settings.appGain = 0.5
        let format = AudioFormat(sampleRate: 48_000, channels: 2, encoding: .float32)
        let rig = try MixerRig(settings)
        // Away from the fades at both ends, a constant of a half is a quarter: -12 dBFS, peak and RMS.
        try rig.play(format, [Float](repeating: 0.5, count: 3 * 48_000))
        var counters = rig.mixer.counters
        #expect(counters.app.level.peakDecibels == -12.0 && counters.app.level.rmsDecibels == -12.0)
        #expect(counters.app.level.silentFrames == 0)
        #expect(counters.microphone.level == SoundLevel(), "never heard")
        rig.advance(to: .seconds(6))
        counters = rig.mixer.counters
        #expect(counters.app.level.peakDecibels == SoundLevel.floor)
        #expect(counters.app.level.silentFrames > 2 * 48_000, "since its last sample")
    }
}
