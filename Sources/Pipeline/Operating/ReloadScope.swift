internal import Configuration
internal import MediaCore
internal import Privacy

/// When a changed key of the configuration takes effect. Pure.
enum ReloadScope: Equatable {
    /// At once, also in a running broadcast.
    case live
    /// When the next broadcast begins; at once if none runs.
    case nextBroadcast
    /// When the daemon starts again.
    case restart

    /// - Parameters:
    ///   - key: such as `video.width`; not one of a destination.
    ///   - old: the configuration in force.
    static func of(_ key: String, from old: Configuration, to new: Configuration) -> ReloadScope {
        switch key {
        // The memory for a higher bitrate is planned when a broadcast begins.
        case "video.bitrate_kbps": new.video.bitrate <= old.video.bitrate ? .live : .nextBroadcast
        case "audio.app_gain_db", "audio.microphone_gain_db", "stop.drain_ms": .live
        case "privacy.curtain_text", "privacy.curtain_text_color", "privacy.curtain_style", "privacy.curtain_color":
            // A picture is decoded before the encoder is opened, because both need memory.
            old.privacy.curtainStyle == .picture || new.privacy.curtainStyle == .picture ? .nextBroadcast : .live
        case "privacy.curtain_picture", "privacy.secure_color", "control.snapshot_size": .nextBroadcast
        case let key where Protection.named(key) != nil: .live
        case let key where ["video", "audio", "buffer"].contains(key.prefix { $0 != "." }): .nextBroadcast
        default: .restart
        }
    }
}

extension Protection {
    /// The protection that a key switches.
    static func named(_ key: String) -> Protection? {
        key.hasPrefix("privacy.") ? Protection(rawValue: String(key.dropFirst("privacy.".count))) : nil
    }
}

extension Configuration {
    /// This configuration, with what `new` may change without a restart.
    ///
    /// - Parameter isLive: whether to take only what a running broadcast can take over.
    func taking(_ new: Configuration, isLive: Bool) -> Configuration {
        var result = self
        result.audio.appGainDecibels = new.audio.appGainDecibels
        result.audio.microphoneGainDecibels = new.audio.microphoneGainDecibels
        result.stop = new.stop
        if privacy.curtainStyle != .picture, new.privacy.curtainStyle != .picture {
            result.privacy.takeCurtain(of: new.privacy)
        }
        guard !isLive else { return result }
        (result.video, result.audio, result.buffer) = (new.video, new.audio, new.buffer)
        result.privacy.takeCurtain(of: new.privacy)
        result.privacy.curtainPicture = new.privacy.curtainPicture
        result.privacy.secureColor = new.privacy.secureColor
        result.control.snapshotSize = new.control.snapshotSize
        return result
    }
}

extension PrivacyConfiguration {
    fileprivate mutating func takeCurtain(of new: PrivacyConfiguration) {
        (curtainStyle, curtainColor) = (new.curtainStyle, new.curtainColor)
        (curtainText, curtainTextColor) = (new.curtainText, new.curtainTextColor)
    }
}
