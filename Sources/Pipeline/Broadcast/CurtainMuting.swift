internal import AudioMixing
internal import MediaCore
internal import Privacy

/// Decides which blocks of sound are silent because of the curtain, and fades sound in again.
///
/// A block that is mixed while the curtain is up is silent from its first sample, so no later packet holds any of the
/// hidden sound. Viewers hear a fade-out of 21 ms: the window of the preceding AAC packet. After the curtain has come
/// down, newer sound is heard again, after a fade-in of 5 ms. Audio thread only.
@safe struct CurtainMuting: ~Copyable {
    enum Gain { case none, rising, full }

    private let settings: AudioMixerSettings
    /// One block of silence, then one block for each of two channels.
    private let samples: UnsafeMutablePointer<Float>
    private var epoch: CurtainEpoch
    /// Sound from before this time is not heard; nil while the curtain is up.
    private var opensAt: MediaTime?
    private var wasMuted = false

    init(settings: AudioMixerSettings, _ stamp: Curtain.Stamp) {
        self.settings = settings
        epoch = stamp.epoch
        opensAt = stamp.isUp ? nil : .zero
        unsafe samples = .allocate(capacity: 3 * settings.frameLength)
        unsafe samples.initialize(repeating: 0, count: 3 * settings.frameLength)
    }

    deinit { unsafe samples.deallocate() }

    /// Whether the curtain has been raised since the last call.
    mutating func isNews(_ stamp: Curtain.Stamp) -> Bool {
        guard stamp.epoch != epoch else { return false }
        epoch = stamp.epoch
        opensAt = nil
        return true
    }

    /// Sound up to this time arrived before the curtain came down.
    mutating func hold(until time: MediaTime) { if let opensAt { self.opensAt = max(opensAt, time) } }

    /// How to scale a block's samples.
    ///
    /// - Parameter opening: from when on sound may be heard; evaluated if the curtain has come down since the last
    ///   call.
    mutating func gain(of time: MediaTime, _ stamp: Curtain.Stamp, opening: @autoclosure () -> MediaTime) -> Gain {
        if stamp.isUp { opensAt = nil } else if opensAt == nil { opensAt = opening() }
        guard let opensAt, time >= opensAt else {
            wasMuted = true
            return .none
        }
        defer { wasMuted = false }
        return wasMuted ? .rising : .full
    }

    var silence: (UnsafePointer<Float>, UnsafePointer<Float>) {
        let silence = unsafe UnsafePointer(samples)
        return unsafe (silence, silence)
    }

    /// Returns the block's channels or replacements for them, which stay valid until the next call.
    func apply(
        _ gain: Gain, to channels: (UnsafePointer<Float>, UnsafePointer<Float>), count: Int
    ) -> (UnsafePointer<Float>, UnsafePointer<Float>) {
        switch gain {
        case .none: return unsafe silence
        case .full: return unsafe channels
        case .rising:
            let (left, right) = unsafe (samples + settings.frameLength, samples + 2 * settings.frameLength)
            let length = settings.sampleRate / 200
            for index in 0..<min(count, settings.frameLength) {
                let x = min(1, Float(index) / Float(length))
                let factor = x * x * (3 - 2 * x)
                unsafe left[index] = unsafe channels.0[index] * factor
                unsafe right[index] = unsafe channels.1[index] * factor
            }
            return unsafe (UnsafePointer(left), UnsafePointer(right))
        }
    }
}
