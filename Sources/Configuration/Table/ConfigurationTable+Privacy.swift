extension ConfigurationTable {
    /// The appearance of hidden content, and the protections.
    static var privacy: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "privacy", "secure_color", \.privacy.secureColor, .color, "Colour of secure regions.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_style", \.privacy.curtainStyle, .cases(),
                "solid is one colour; frosted is the last permitted picture, blurred to a width of 16 pixels; picture "
                    + "is curtain_picture.",
                memory: "picture: width x height x 1.5 bytes."),
            ConfigurationKey(
                "privacy", "curtain_color", \.privacy.curtainColor, .color,
                "Colour of a solid curtain, and of the bars beside curtain_picture.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_text", \.privacy.curtainText,
                .lettering(maxCharacters: PrivacyConfiguration.maxTextCharacters),
                "Text in the middle of the curtain, as large as fits. \"\\n\" starts a new line. The style picture "
                    + "shows none.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_text_color", \.privacy.curtainTextColor, .optionalColor,
                "Colour of curtain_text; \"\" selects white or black by contrast.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain_picture", \.privacy.curtainPicture, .optionalPath,
                "PNG or JPEG file for the style picture, scaled by video.fit. At most 4 MiB, and 16 MiB decoded.",
                memory: "Decoding takes up to 25 MiB, before a broadcast allocates its memory.")
        ] + protections
    }

    private static var protections: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "privacy", "secure_regions", \.privacy.secureRegions, .boolean,
                "Paints over secure regions. If disabled, frames that have them are refused.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "standing_regions", \.privacy.standingRegions, .boolean,
                "Lets apps and operators hide regions of all frames.", memory: nothing),
            ConfigurationKey(
                "privacy", "curtain", \.privacy.curtain, .boolean, "Lets clients, apps and operators raise the "
                    + "curtain.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "automatic_curtain", \.privacy.automaticCurtain, .boolean,
                "Lets the daemon raise the curtain: before a broadcast's first picture, for invalid regions, and when "
                    + "the client disconnects.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "take_back", \.privacy.takeBack, .boolean,
                "Discards unsent packets when the curtain is raised.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "take_back_newer_than_ms", \.privacy.takeBackNewerThan, .milliseconds(0...600_000),
                unit: "ms",
                "take_back discards only packets newer than this; older ones are still sent. 0 discards all.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "capture_state", \.privacy.captureState, .boolean,
                "Tells apps whether the screen is captured (GET /state). If disabled, they must assume so.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "audit_file", \.privacy.auditFile, .optionalPath,
                "Audit log: a line of JSON for each change of what is hidden. A reload reopens it.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "state_file", \.privacy.stateFile, .optionalPath,
                "File that keeps curtain holds, standing regions and protections across restarts.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "consulted_return_ms", \.privacy.consultedReturn, .milliseconds(0...86_400_000),
                unit: "ms",
                "How long broadcasts after a restart wait under the curtain for consulted apps to reconnect; 0 for no "
                    + "limit.",
                memory: nothing),
        ]
    }
}
