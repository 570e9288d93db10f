internal import MediaCore

extension VideoEncoder {
    /// Bytes of anonymous memory that an encoder with these settings holds at its peak: from 640x360
    /// to 1920x1080 within 6 % of what was measured for libx264 with tune zerolatency; a rough guess for anything else.
    /// Of `options` it knows those of `X264MemoryOptions`.
    ///
    /// It adds up what x264 164 allocates: frames to encode with their half-size planes for rate control, frames to
    /// refer to (four luma planes each with subpixel motion), and what it keeps of every macroblock. Measured as growth
    /// of RssAnon with huge pages disabled, 30 fps, 2.5 Mbit/s (24 Mbit/s add 1 MB), one thread, in kB:
    ///
    /// | canvas | veryfast without subpixel motion | with | faster without | with | medium without | with | ultrafast |
    /// |---|---|---|---|---|---|---|---|
    /// | 640x360 | 4,820 | 6,728 | | | | | |
    /// | 1280x720 | 12,260 | 18,672 | 14,124 | 23,792 | 17,144 | 30,184 | 12,176 |
    /// | 720x1280 | 12,764 | 19,264 | | | | | |
    /// | 886x1918 | 21,460 | 34,024 | | | | | |
    /// | 1920x1080 | 24,084 | 38,072 | | 49,372 | 34,900 | | |
    /// | 2560x1440 | 38,252 | 61,832 | | | | | |
    ///
    /// superfast is as veryfast, fast as faster; four threads add 1.1 MB at 720p and 1.3 MB at 1080p. `upcast-bench
    /// encoder` measures it. Pictures come on top, and a copy of one for encoders that need it.
    package static func estimatedBytes(_ settings: VideoEncoderSettings) -> Int {
        let (width, height) = (settings.canvas.width, settings.canvas.height)
        let macroblocks = ((width + 15) / 16) * ((height + 15) / 16)
        // x264 pads rows by 64 samples on each side and pictures by 32 rows, and aligns rows to 64 bytes.
        let luma = (aligned(width) + 128) * ((height + 15) / 16 * 16 + 64)
        let halfSize = (aligned(width / 2) + 128) * (height / 2 + 64)
        let copy = copies(settings, settings.chromaLayout)
            ? aligned(width) * height + 2 * aligned(width / 2) * height / 2 : 0

        let preset = X264Preset(rawValue: settings.openedPreset) ?? .medium
        let options = X264MemoryOptions(settings.isX264 ? settings.options : [])
        let hasSubpixels = options.usesSubpixels ?? (settings.subpixelMotion && preset != .ultrafast)
        let usesSubpixels = settings.isX264 && hasSubpixels
        let bFrames = options.bFrames ?? settings.bFrames
        let sourceFrame = luma * 3 / 2 + 4 * halfSize + 28 * macroblocks
        let referenceFrame = luma * 3 / 2 + (usesSubpixels ? 3 * luma : 0) + 75 * macroblocks
        let lookahead = options.lookahead ?? (settings.tune == "zerolatency" ? 0 : preset.lookahead)
        let delay = bFrames + lookahead
        // With two and more, B-frames are referred to as well.
        let references = (options.references ?? preset.references) + (bFrames > 1 ? 3 : bFrames)
        // Medium and slower presets weight references, in a plane of their own.
        let weights = references > 2 ? luma : 0
        return 1_350_000 + copy + (2 + delay) * sourceFrame + (1 + references) * referenceFrame + weights
            + 393 * macroblocks + (settings.threads - 1) * 400_000
    }

    /// Per cent more bits that the same picture takes without subpixel motion, beside effort normal: the average of
    /// nine contents (BD-rate by PSNR, docs/performance.md). A pan takes 4, a film 39, text that scrolls 335.
    package static let subpixelMotionPercent = 50

    /// Settings with which the same stream takes less memory: the same sequence and picture parameter sets, so that
    /// players notice nothing but a keyframe. One of `savings` that would change them is left out. Nil where nothing is
    /// saved, and for encoders whose memory nobody knows.
    package static func lean(_ settings: VideoEncoderSettings, _ savings: EncoderSavings) -> VideoEncoderSettings? {
        guard settings.isX264 else { return nil }
        var lean = settings
        if savings.contains(.oneThread) { lean.threads = 1 }
        if savings.contains(.noSubpixelMotion), X264MemoryOptions(settings.options).usesSubpixels == nil,
            X264Preset(rawValue: settings.openedPreset)?.hasChromaOffset == false
        {
            lean.subpixelMotion = false
        }
        return estimatedBytes(lean) < estimatedBytes(settings) ? lean : nil
    }

    private static func aligned(_ bytes: Int) -> Int { (bytes + 63) & ~63 }
}
