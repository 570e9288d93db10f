/// The video path, from the socket to the encoder.
package struct VideoStatus: JSONRecord {
    /// The canvas.
    package var width = 0
    package var height = 0
    /// "30" or "30000/1001".
    package var frameRate = ""
    package var encoder = ""
    /// low, normal or high, as the encoder uses it now; empty if a preset decides.
    package var effort = ""
    package static let efforts = ["low", "normal", "high"]
    /// The configured effort. It is higher than `effort` while processor time is short.
    package var configuredEffort = ""
    /// The code that scales and turns the last picture: "native" or "libyuv".
    package var scaler = ""
    /// The last picture that came: "1920x1080 420v, orientation 6"; empty before the first.
    package var source = ""
    package var framesReceived = 0
    package var framesEncoded = 0
    /// Encoded frames that repeat an unchanged screen.
    package var framesRepeated = 0
    /// Received frames that look like the frame before, and are not encoded.
    package var framesUnchanged = 0
    /// Frames of which only the changed parts were converted.
    package var framesPartial = 0
    package var keyframes = 0
    package var bytesEncoded = 0
    /// The bit rate that the encoder is set to; lower than configured while the network carries less.
    package var targetBitsPerSecond = 0
    /// One frame in this many is encoded; more than 1 while the network carries very little.
    package var frameRateDivisor = 1
    /// The average over the last seconds.
    package var bitsPerSecond = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("width", &width)
        fields("height", &height)
        fields("frame_rate", &frameRate)
        fields("encoder", &encoder)
        fields("effort", &effort)
        fields("configured_effort", &configuredEffort)
        fields("scaler", &scaler)
        fields("source", &source)
        fields("frames_received", &framesReceived)
        fields("frames_encoded", &framesEncoded)
        fields("frames_repeated", &framesRepeated)
        fields("frames_unchanged", &framesUnchanged)
        fields("frames_partial", &framesPartial)
        fields("keyframes", &keyframes)
        fields("bytes_encoded", &bytesEncoded)
        fields("target_bits_per_second", &targetBitsPerSecond)
        fields("frame_rate_divisor", &frameRateDivisor)
        fields("bits_per_second", &bitsPerSecond)
    }
}

/// The audio path, from the socket to the encoder.
package struct AudioStatus: JSONRecord {
    package var sampleRate = 0
    package var channels = 0
    package var appBlocksReceived = 0
    package var microphoneBlocksReceived = 0
    package var samplesEncoded = 0
    /// Samples of silence that were inserted where no source had sound.
    package var silenceSamples = 0
    package var bytesEncoded = 0
    package var targetBitsPerSecond = 0
    /// The levels of the sources that have sent sound in this broadcast, after their gain.
    package var levels: [AudioLevelStatus] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("sample_rate_hz", &sampleRate)
        fields("channels", &channels)
        fields("app_blocks_received", &appBlocksReceived)
        fields("microphone_blocks_received", &microphoneBlocksReceived)
        fields("samples_encoded", &samplesEncoded)
        fields("silence_samples", &silenceSamples)
        fields("bytes_encoded", &bytesEncoded)
        fields("target_bits_per_second", &targetBitsPerSecond)
        fields("levels", &levels)
    }
}

/// The loudness of a source over the last half second, in dBFS; -100 is digital silence.
package struct AudioLevelStatus: JSONRecord {
    /// "app" or "microphone".
    package var source = ""
    package var peakDecibels = 0.0
    package var rmsDecibels = 0.0
    /// How long its peak has been below -60 dBFS; zero while there is sound.
    package var silentMilliseconds = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("source", &source)
        fields("peak_dbfs", &peakDecibels)
        fields("rms_dbfs", &rmsDecibels)
        fields("silent_ms", &silentMilliseconds)
    }
}

/// One destination. It contains no stream key: its URL is redacted.
package struct DestinationStatus: JSONRecord {
    package enum State: String, CaseIterable, Sendable {
        case idle, connecting, live, congested, reconnecting, failed, closed
    }

    package var name = ""
    package var kind = DestinationKind.rtmp
    package var url = ""
    package var state = State.idle
    package var stateMilliseconds = 0
    /// How long it has taken no media in this broadcast, over all attempts; zero while it takes media.
    package var downMilliseconds = 0
    package var bytesSent = 0
    package var packetsSent = 0
    /// Bytes that the server acknowledged (RTMP Acknowledgement); zero for servers that do not acknowledge.
    package var bytesAcknowledged = 0
    /// How often packets began to flow.
    package var connects = 0
    /// Failed attempts and broken connections, by cause.
    package var failures: [Counter] = []
    /// The time until the next attempt, while reconnecting; zero otherwise.
    package var nextAttemptMilliseconds = 0
    /// Packets that this destination skipped, by cause.
    package var drops: [Counter] = []
    /// How late packets reach the other side.
    package var lagMilliseconds = 0
    /// The part of the lag that waits in the packet log.
    package var backlogMilliseconds = 0
    package var backlogBytes = 0
    /// How many connections in a row, up to the last one, were live for less than a second.
    package var shortConnections = 0
    package var lastError: String?
    /// The time since that error; zero without one.
    package var lastErrorAgeMilliseconds = 0
    /// From the last byte of a frame at the capture socket until its packet is written to this destination, including
    /// the broadcast delay.
    package var latency = LatencyStatus()

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("name", &name)
        fields("kind", &kind)
        fields("url", &url)
        fields("state", &state)
        fields("state_ms", &stateMilliseconds)
        fields("down_ms", &downMilliseconds)
        fields("bytes_sent", &bytesSent)
        fields("packets_sent", &packetsSent)
        fields("bytes_acknowledged", &bytesAcknowledged)
        fields("connects", &connects)
        fields("failures", &failures)
        fields("next_attempt_ms", &nextAttemptMilliseconds)
        fields("drops", &drops)
        fields("lag_ms", &lagMilliseconds)
        fields("backlog_ms", &backlogMilliseconds)
        fields("backlog_bytes", &backlogBytes)
        fields("short_connections", &shortConnections)
        fields("last_error", &lastError)
        fields("last_error_age_ms", &lastErrorAgeMilliseconds)
        fields("latency", &latency)
    }
}
