import AudioMixing
import MediaCore
import Privacy
import Testing

@testable import Pipeline

/// Promise: no block that is mixed while the curtain is up holds any sound, and none from before it has come down.
@Suite struct CurtainMutingTests {
    private static let settings = AudioMixerSettings(sampleRate: 48_000, frameLength: 512)
    private static let holder = PrivacyHolder(.operator)

    private func raise(_ curtain: Curtain) { _ = curtain.raise(Self.holder, reason: "", at: .zero) }

    @Test func silentUntilNewerSoundIsThere() {
        let curtain = Curtain()
        var muting = CurtainMuting(settings: Self.settings, curtain.stamp)
        func gain(_ milliseconds: Int64, opening: Int64) -> CurtainMuting.Gain {
            muting.gain(of: .milliseconds(milliseconds), curtain.stamp, opening: .milliseconds(opening))
        }
        #expect(gain(0, opening: 99_999) == .full, "it was never up")
        raise(curtain)
        #expect(gain(20, opening: 0) == .none)
        _ = curtain.lower(Self.holder)
        // The first block after it has come down decides from when on sound is heard.
        #expect(gain(40, opening: 55) == .none)
        #expect(gain(54, opening: 0) == .none)
        #expect(gain(55, opening: 0) == .rising)
        #expect(gain(75, opening: 99_999) == .full)
    }

    /// A block from before the curtain came down may be taken afterwards.
    @Test func soundThatCameBefore() {
        let curtain = Curtain()
        var muting = CurtainMuting(settings: Self.settings, curtain.stamp)
        raise(curtain)
        func gain(_ milliseconds: Int64) -> CurtainMuting.Gain {
            muting.gain(of: .milliseconds(milliseconds), curtain.stamp, opening: .milliseconds(50))
        }
        #expect(gain(20) == .none)
        muting.hold(until: .seconds(100))
        _ = curtain.lower(Self.holder)
        #expect(gain(50) == .rising, "what was held while it was up counts with the opening")
        muting.hold(until: .milliseconds(300))
        muting.hold(until: .milliseconds(200))
        #expect(gain(299) == .none)
        #expect(gain(300) == .rising)
        #expect(gain(320) == .full)
    }

    /// One that was raised and lowered between two blocks takes sound back, too.
    @Test func oneThatNoBlockHasSeen() {
        let curtain = Curtain()
        var muting = CurtainMuting(settings: Self.settings, curtain.stamp)
        func isNews() -> Bool { muting.isNews(curtain.stamp) }
        func gain(_ milliseconds: Int64) -> CurtainMuting.Gain {
            muting.gain(of: .milliseconds(milliseconds), curtain.stamp, opening: .milliseconds(50))
        }
        #expect(!isNews())
        #expect(gain(0) == .full)
        raise(curtain)
        _ = curtain.lower(Self.holder)
        #expect(isNews())
        #expect(!isNews())
        #expect(gain(20) == .none)
        #expect(gain(60) == .rising)
    }

    /// The curtain may come down before the first block.
    @Test(arguments: [true, false]) func aBroadcastThatBeginsUnderTheCurtain(hasBlock: Bool) {
        let curtain = Curtain()
        raise(curtain)
        var muting = CurtainMuting(settings: Self.settings, curtain.stamp)
        func gain(_ milliseconds: Int64) -> CurtainMuting.Gain {
            muting.gain(of: .milliseconds(milliseconds), curtain.stamp, opening: .milliseconds(30))
        }
        if hasBlock { #expect(gain(0) == .none) }
        _ = curtain.lower(Self.holder)
        #expect(gain(20) == .none)
        #expect(gain(30) == .rising)
    }

    /// What each gain makes of a block in which all samples are 1 and -1.
    @Test(arguments: [CurtainMuting.Gain.none, .rising, .full]) func samples(gain: CurtainMuting.Gain) {
        let muting = CurtainMuting(settings: Self.settings, Curtain().stamp)
        let (count, fade) = (Self.settings.frameLength, Self.settings.sampleRate / 200)
        let (left, right) = ([Float](repeating: 1, count: count), [Float](repeating: -1, count: count))
        var (heard, opposite): ([Float], [Float]) = ([], [])
        unsafe left.withUnsafeBufferPointer { left in
            unsafe right.withUnsafeBufferPointer { right in
                let result = unsafe muting.apply(gain, to: (left.baseAddress!, right.baseAddress!), count: count)
                unsafe heard = Array(UnsafeBufferPointer(start: result.0, count: count))
                unsafe opposite = Array(UnsafeBufferPointer(start: result.1, count: count))
            }
        }
        switch gain {
        case .none: #expect(heard.allSatisfy { $0 == 0 })
        case .full: #expect(heard == left)
        case .rising:
            // 5 ms, without a click at either end.
            #expect(heard[0] == 0 && heard[fade / 2] == 0.5 && heard[fade...].allSatisfy { $0 == 1 })
            #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 <= $1 && $1 - $0 < 0.01 })
        }
        #expect(opposite == heard.map { -$0 })
    }
}
