internal import MediaCore

extension VideoEncoder {
    /// The peak anonymous memory of an encoder with these settings, in bytes. From 640x360 to 1920x1080 it is within 6
    /// % of measurements for libx264 with tune zerolatency; otherwise it is a rough estimate. Of `options` it uses
    /// those of `X264MemoryOptions`.
    ///
    /// It adds up what x264 164 allocates: frames to encode with their half-size planes for rate control, reference
    /// frames (four luma planes each with subpixel motion), and data for each macroblock. Measured as growth of RssAnon
    /// with huge pages disabled, 30 frames/s, 2.5 Mbit/s (24 Mbit/s add 1 MiB), one thread, in KiB:
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
    /// superfast equals veryfast, and fast equals faster. Four threads add 1.1 MiB at 720p and 1.3 MiB at 1080p.
    /// `upcast-bench encoder` measures it. The pictures are not included, but the copy of one for encoders that need it
    /// is.
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
        // With two or more B-frames, some are references as well.
        let references = (options.references ?? preset.references) + (bFrames > 1 ? 3 : bFrames)
        // Medium and slower presets use weighted prediction with a plane of its own.
        let weights = references > 2 ? luma : 0
        return 1_350_000 + copy + (2 + delay) * sourceFrame + (1 + references) * referenceFrame + weights
            + 393 * macroblocks + (settings.threads - 1) * 400_000
    }

    /// How many per cent more bits the same picture takes without subpixel motion, compared to effort normal: the
    /// average of nine contents (BD-rate by PSNR, docs/performance.md). A pan takes 4, a film 39, scrolling text 335.
    package static let subpixelMotionPercent = 50

    /// Settings that need less memory for the same stream: sequence and picture parameter sets stay the same, so that
    /// players only see another keyframe. Ignores those of `savings` that would change them. Nil if nothing is saved,
    /// and for encoders other than libx264, whose memory is unknown.
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
