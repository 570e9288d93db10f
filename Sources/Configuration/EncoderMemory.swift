extension VideoConfiguration {
    /// What libx264 holds for this configuration when it is under way, in bytes: within a tenth of what was measured
    /// with Debian 12's libx264 (sizes from 640x360 to 1920x1080), and rather more than less. Other encoders are taken
    /// to be like it.
    ///
    /// `subq: "0"` is known among the encoder's options (it saves the half-pel planes); `refs` and others are not.
    package var expectedEncoderBytes: Int {
        let cost = EncoderCost.byPreset[preset] ?? EncoderCost.veryfast
        let isLowDelay = tune.split(separator: ",").contains("zerolatency")
        // Tenths of a byte for each pixel of the canvas.
        var perPixel = cost.planes + (hasHalfPelPlanes ? cost.halfPel : 0) + 95 * bFrames
        var fixed = 1_300_000
        if isLowDelay {
            perPixel += threads - 1
            fixed += 200_000 * (threads - 1)
        } else {
            perPixel += 29 + 30 * cost.lookahead + 87 * (threads - 1)
            fixed += 800_000 * (threads - 1)
        }
        // Borders and per-row tables make a small picture cost as if it had 62,000 pixels more.
        return (fixed + perPixel * (width * height + 62_000) / 10) * 26 / 25
    }

    private var hasHalfPelPlanes: Bool {
        let parameters = (encoderOptions["x264-params"] ?? "").split(separator: ":")
        return encoderOptions["subq"] != "0" && !parameters.contains("subme=0")
    }
}

private struct EncoderCost {
    /// Tenths of a byte for each pixel: reference frames and what belongs to them.
    let planes: Int
    /// The same for the planes between the pixels, which motion search below the pixel needs.
    let halfPel: Int
    /// Frames that are looked ahead at without zerolatency.
    let lookahead: Int

    static let veryfast = EncoderCost(planes: 107, halfPel: 69, lookahead: 10)
    static let byPreset = [
        "ultrafast": EncoderCost(planes: 105, halfPel: 0, lookahead: 0),
        "superfast": EncoderCost(planes: 107, halfPel: 69, lookahead: 0),
        "veryfast": veryfast,
        "faster": EncoderCost(planes: 127, halfPel: 103, lookahead: 20),
        "fast": EncoderCost(planes: 127, halfPel: 103, lookahead: 30),
        "medium": EncoderCost(planes: 159, halfPel: 137, lookahead: 40),
        "slow": EncoderCost(planes: 199, halfPel: 205, lookahead: 50),
        "slower": EncoderCost(planes: 259, halfPel: 308, lookahead: 60),
        "veryslow": EncoderCost(planes: 418, halfPel: 581, lookahead: 60),
        "placebo": EncoderCost(planes: 418, halfPel: 581, lookahead: 60),
    ]
}
