internal import MediaCore

extension VideoEncoder {
    /// Always part of `x264-params`, whatever the tune: a variable frame rate delays the stream by a frame.
    private static let constantFrameRate = "force-cfr=1"

    /// Used with an effort, unless the user sets another. A still screen then has 54 dB: more is not visible, and would
    /// take a third more bits and a sixth more time.
    private static let smallestQuantizer = "qpmin=5"

    /// Sets the options of libx264.
    static func configureX264(
        _ encoder: borrowing LibAVEncoder, _ settings: VideoEncoderSettings
    ) throws(EncodingError) {
        // For an unknown name, libavcodec only says "Invalid argument", and x264 prints to standard error.
        if settings.effort == nil, !settings.preset.isEmpty, X264Preset(rawValue: settings.preset) == nil {
            let names = X264Preset.names.joined(separator: ", ")
            throw .option(encoder: encoder.name, name: "preset", value: settings.preset, reason: "x264 has \(names)")
        }
        for tune in settings.tune.split(separator: ",") where !X264Preset.tunes.contains(String(tune)) {
            let names = X264Preset.tunes.joined(separator: ", ")
            throw .option(encoder: encoder.name, name: "tune", value: settings.tune, reason: "x264 has \(names)")
        }
        try encoder.setOption("x264-params", parameters(settings))
        try encoder.setOption("nal-hrd", "none")
        // Keyframes come on schedule only: segmenters need even intervals, and at a scene cut intra blocks are enough.
        try encoder.setOption("sc_threshold", "0")
    }

    /// The `x264-params` that precede those of the user.
    private static func parameters(_ settings: VideoEncoderSettings) -> String {
        var parts = [constantFrameRate]
        if let effort = settings.effort { parts += [X264Effort.parameters(effort), smallestQuantizer] }
        if !settings.subpixelMotion { parts.append(X264Effort.withoutSubpixelMotion(settings.effort)) }
        return parts.joined(separator: ":")
    }

    /// Sets one of the user's options.
    static func set(
        _ option: VideoEncoderSettings.Option, of settings: VideoEncoderSettings, on encoder: borrowing LibAVEncoder
    ) throws(EncodingError) {
        guard settings.isX264 else { return try encoder.setOption(option.name, option.value) }
        for part in X264Option.all(in: option.name, option.value) {
            guard let objection = X264ReservedOptions.objection(to: part) else { continue }
            throw .option(
                encoder: encoder.name, name: option.name, value: option.value, reason: "\(part.name) \(objection)")
        }
        guard option.name == "x264-params" else { return try encoder.setOption(option.name, option.value) }
        do throws(EncodingError) {
            try encoder.setOption(option.name, "\(parameters(settings)):\(option.value)")
        } catch {
            throw .option(
                encoder: encoder.name, name: option.name, value: option.value,
                reason: "it is not a list of name=value:name=value")
        }
    }

    /// Returns an error if x264 refused one of the user's options. libavcodec names it only in a log message, and
    /// ignores bad options of `x264-params`.
    static func refusal(in messages: [String], of settings: VideoEncoderSettings) -> EncodingError? {
        for (sign, list) in [
            ("Error parsing option", "x264-params"), ("bad option", "x264opts"), ("bad value", "x264opts"),
        ] {
            guard let option = settings.options.first(where: { $0.name == list }),
                let message = messages.first(where: { $0.hasPrefix(sign) })
            else { continue }
            let reason = message.hasSuffix(".") ? String(message.dropLast()) : message
            return .option(encoder: settings.encoder, name: list, value: option.value, reason: reason)
        }
        return nil
    }
}
