package import Configuration
internal import LinuxSystem

/// What is configured, and what operators and reloads have made of it. Any thread.
extension BroadcastHost {
    /// The configuration with the destinations as they are now.
    package var currentConfiguration: Configuration {
        var current = configuration
        current.destinations = state.withLock { $0.destinations }
        return current
    }

    /// The same with what reloads have changed since the start: what whoever wrote the file expects to see.
    package var shownConfiguration: Configuration {
        var shown = currentConfiguration
        shown.video.bitrate = configuredBitrate
        shown.log.level = reloading.withLock { $0.configuration.log.level }
        return shown
    }

    /// What the encoder is asked for where nobody says otherwise.
    var configuredBitrate: Int { state.withLock { $0.reloadedBitrate } ?? configuration.video.bitrate }
}
