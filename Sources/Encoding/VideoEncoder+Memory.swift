internal import MediaCore

extension VideoEncoder {
    /// Bytes of anonymous memory that an encoder with these settings holds at its peak, canvas included: from 640x360
    /// to 1920x1080 within 6 % of what was measured for libx264 with tune zerolatency; a rough guess for anything else,
    /// and blind to `options`.
    ///
    /// It adds up what x264 164 allocates: frames to encode with their half-size planes for rate control, frames to
    /// refer to (four luma planes each with subpixel motion), and what it keeps of every macroblock. Measured as growth
    /// of RssAnon with huge pages disabled, 30 fps, 2.5 Mbit/s (24 Mbit/s add 1 MB), one thread, in kB:
    ///
    /// | canvas | veryfast | with subpixel motion | faster | with | medium | with | ultrafast |
    /// |---|---|---|---|---|---|---|---|
    /// | 640x360 | 4,972 | 6,836 | 5,540 | 8,396 | 6,448 | 10,272 | 5,052 |
    /// | 1280x720 | 13,572 | 19,952 | 15,520 | 25,168 | 18,568 | 31,444 | 13,452 |
    /// | 720x1280 | 14,080 | 20,576 | 16,076 | 25,856 | 19,168 | 32,200 | 13,984 |
    /// | 886x1918 | 23,812 | 36,128 | 27,476 | 46,056 | 33,316 | 58,276 | 23,564 |
    /// | 1920x1080 | 26,512 | 40,776 | 30,580 | 52,132 | 37,244 | 65,636 | 26,480 |
    /// | 2560x1440 | 43,208 | 67,048 | 50,224 | 85,648 | 61,296 | 108,924 | 42,572 |
    ///
    /// superfast is as veryfast, fast as faster; four threads add 1.1 MB at 720p and 1.3 MB at 1080p.
    package static func estimatedBytes(_ settings: VideoEncoderSettings) -> Int {
        let (width, height) = (settings.canvas.width, settings.canvas.height)
        let macroblocks = ((width + 15) / 16) * ((height + 15) / 16)
        // x264 pads rows by 64 samples on each side and pictures by 32 rows, and aligns rows to 64 bytes.
        let luma = (aligned(width) + 128) * ((height + 15) / 16 * 16 + 64)
        let halfSize = (aligned(width / 2) + 128) * (height / 2 + 64)
        let canvas = (aligned(width) * height + 2 * aligned(width / 2) * height / 2)
            * (settings.chromaLayout == .nv12 ? 2 : 1)

        let preset = X264Preset(rawValue: settings.preset) ?? .medium
        let usesSubpixels = settings.encoder == "libx264" && settings.subpixelMotion && preset != .ultrafast
        let sourceFrame = luma * 3 / 2 + 4 * halfSize + 28 * macroblocks
        let referenceFrame = luma * 3 / 2 + (usesSubpixels ? 3 * luma : 0) + 75 * macroblocks
        let delay = settings.bFrames + (settings.tune == "zerolatency" ? 0 : preset.lookahead)
        let references = preset.references + (settings.bFrames > 0 ? 2 : 0)
        // Medium and slower presets weight references, in a plane of their own.
        let weights = references > 2 ? luma : 0
        return 1_100_000 + canvas + (2 + delay) * sourceFrame + (1 + references) * referenceFrame + weights
            + 393 * macroblocks + (settings.threads - 1) * 400_000
    }

    private static func aligned(_ bytes: Int) -> Int { (bytes + 63) & ~63 }
}
