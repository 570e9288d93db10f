extension ConfigurationTable {
    /// The keys of one destination.
    static var destinationKeys: [ConfigurationKey<DestinationConfiguration>] {
        [
            ConfigurationKey(
                "destinations", "name", \.name, .word("name", example: "main", maxBytes: 32),
                "Unique name in logs, status and metrics.", memory: nothing),
            ConfigurationKey(
                "destinations", "url", \.url, .destinationURL,
                "Server and application, or a file. The stream key is safer in key_file or key_env.",
                memory: "A send buffer for each destination, and a TLS session for rtmps://."),
            ConfigurationKey(
                "destinations", "key_file", \.keyFile, .optionalPath,
                "File, or systemd credential:NAME (LoadCredential=NAME:...), whose first line is the stream key; read "
                    + "at each connect.", memory: nothing),
            ConfigurationKey(
                "destinations", "key_env", \.keyEnvironment, .optionalVariable,
                "Environment variable with the stream key.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_file", \.loginFile, .optionalPath,
                "File, or credential:NAME, whose first line is user:password (Adobe and Limelight logins). The URL "
                    + "may contain it instead.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_env", \.loginEnvironment, .optionalVariable,
                "Environment variable with user:password.", memory: nothing),
            ConfigurationKey(
                "destinations", "address_timeout_ms", \.addressTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for each server address; others are tried in parallel.", memory: nothing),
            ConfigurationKey(
                "destinations", "connect_timeout_ms", \.connectTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for name resolution and TCP, all addresses together.", memory: nothing),
            ConfigurationKey(
                "destinations", "handshake_timeout_ms", \.handshakeTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for TLS and RTMP, until the server accepts the stream.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "send_timeout_ms", \.sendTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout if the server accepts no bytes.", memory: nothing),
            ConfigurationKey(
                "destinations", "ack_timeout_ms", \.acknowledgementTimeout, .milliseconds(1000...120_000), unit: "ms",
                "Timeout if the server accepts bytes but acknowledges none.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect", \.reconnect, .boolean,
                "Reconnects after a failed or lost connection.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_first_ms", \.reconnectFirst, .milliseconds(50...60_000), unit: "ms",
                "Delay before the first retry. Each further delay is 1.6 times as long, all minus a random part of up "
                    + "to half.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_longest_ms", \.reconnectLongest, .milliseconds(50...3_600_000), unit: "ms",
                "Maximum delay between attempts.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_attempts", \.reconnectAttempts, .integer(0...1_000_000),
                "Retries in a row after which the destination is given up; 0 never gives up.", memory: nothing),
            ConfigurationKey(
                "destinations", "adaptive", \.adaptive, .boolean,
                "Includes this link in video.adaptive. Files are never included.", memory: nothing),
            ConfigurationKey(
                "destinations", "ca_file", \.caFile, .optionalPath,
                "Trusted certificates (PEM), in place of the system's.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "tls_verify", \.verifyTLS, .boolean,
                "Verifies the server's certificate. Disable it only for tests on trusted networks.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "allow_redirect", \.allowRedirect, .boolean,
                "Follows redirects to other hosts (Enhanced RTMP), but never from TLS to TCP.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "refuse_sources", \.refusedSources, .sources,
                "Does not send broadcasts whose client names one of these source kinds.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "chunk_size", \.chunkSize, .integer(128...65_536, units: .bytes), unit: "bytes",
                "Outgoing RTMP chunk size.", memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_bytes", \.rotateBytes, .bytes(0...1 << 40),
                "Size after which the next keyframe starts a new file; 0 for never.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_after_ms", \.rotateAfter, .milliseconds(0...86_400_000), unit: "ms",
                "Time after which the next keyframe starts a new file; 0 for never.", memory: nothing),
            ConfigurationKey(
                "destinations", "sync", \.sync, .cases(),
                "When each recorded file is flushed to disk (fsync).",
                memory: nothing),
            ConfigurationKey(
                "destinations", "sync_period_ms", \.syncPeriod, .milliseconds(100...3_600_000), unit: "ms",
                "Interval of sync periodic. A power failure loses at most this much.", memory: nothing)
        ]
    }
}
