extension ConfigurationTable {
    /// The keys of one destination.
    static var destinationKeys: [ConfigurationKey<DestinationConfiguration>] {
        [
            ConfigurationKey(
                "destinations", "name", \.name, .word("name", example: "main", maxBytes: 32),
                "Name in logs, status and metrics. It must be unique.", memory: nothing),
            ConfigurationKey(
                "destinations", "url", \.url, .destinationURL,
                "Server and application, or a file. The URL may contain the stream key, but key_file and key_env are "
                    + "safer.",
                memory: "A send buffer for each destination, and a TLS session where the URL asks for TLS."),
            ConfigurationKey(
                "destinations", "key_file", \.keyFile, .optionalPath,
                "File whose first line is the stream key. The daemon reads it at each connect. credential:NAME is a "
                    + "systemd credential (LoadCredential=NAME:...).", memory: nothing),
            ConfigurationKey(
                "destinations", "key_env", \.keyEnvironment, .optionalVariable,
                "Name of the environment variable that holds the stream key.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_file", \.loginFile, .optionalPath,
                "File, or credential:NAME, whose first line is user:password, for servers that require a login (Adobe, "
                    + "Limelight). The URL may contain the login instead.", memory: nothing),
            ConfigurationKey(
                "destinations", "login_env", \.loginEnvironment, .optionalVariable,
                "Name of the environment variable that holds user:password.", memory: nothing),
            ConfigurationKey(
                "destinations", "address_timeout_ms", \.addressTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for each address of the server. Other addresses are tried in parallel.", memory: nothing),
            ConfigurationKey(
                "destinations", "connect_timeout_ms", \.connectTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for name resolution and TCP, all addresses together.", memory: nothing),
            ConfigurationKey(
                "destinations", "handshake_timeout_ms", \.handshakeTimeout, .milliseconds(100...120_000), unit: "ms",
                "Timeout for TLS, the RTMP handshake and the commands until the server accepts the stream.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "send_timeout_ms", \.sendTimeout, .milliseconds(100...120_000), unit: "ms",
                "The connection is closed if the server accepts no bytes for this long.", memory: nothing),
            ConfigurationKey(
                "destinations", "ack_timeout_ms", \.acknowledgementTimeout, .milliseconds(1000...120_000), unit: "ms",
                "The connection is closed if the server accepts bytes but acknowledges none for this long.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect", \.reconnect, .boolean,
                "Reconnects after a failed or lost connection.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_first_ms", \.reconnectFirst, .milliseconds(50...60_000), unit: "ms",
                "Delay before the first new attempt. Each further delay is 1.6 times as long, minus a random part of "
                    + "up to half.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_longest_ms", \.reconnectLongest, .milliseconds(50...3_600_000), unit: "ms",
                "Maximum delay between attempts.", memory: nothing),
            ConfigurationKey(
                "destinations", "reconnect_attempts", \.reconnectAttempts, .integer(0...1_000_000),
                "Failed attempts in a row after which the destination is given up; 0 never gives up.", memory: nothing),
            ConfigurationKey(
                "destinations", "adaptive", \.adaptive, .boolean,
                "Includes this link in video.adaptive. Files are never included.", memory: nothing),
            ConfigurationKey(
                "destinations", "ca_file", \.caFile, .optionalPath,
                "Trusted certificates (PEM) for rtmps://, in place of the system's.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "tls_verify", \.verifyTLS, .boolean,
                "Verifies the server's certificate. Disable it only for tests on a trusted network.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "allow_redirect", \.allowRedirect, .boolean,
                "Follows redirects to another host (Enhanced RTMP), but never from TLS to plain TCP.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "refuse_sources", \.refusedSources, .sources,
                "Broadcasts whose client names one of these source kinds are not sent here, such as \"mirroring, "
                    + "external_playback\".",
                memory: nothing),
            ConfigurationKey(
                "destinations", "chunk_size", \.chunkSize, .integer(128...65_536, units: .bytes), unit: "bytes",
                "RTMP chunk size of outgoing messages.", memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_bytes", \.rotateBytes, .bytes(0...1 << 40),
                "Starts a new file at the next keyframe after this many bytes; 0 writes one file.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "rotate_after_ms", \.rotateAfter, .milliseconds(0...86_400_000), unit: "ms",
                "Starts a new file at the next keyframe after this time; 0 writes one file.", memory: nothing),
            ConfigurationKey(
                "destinations", "sync", \.sync, .cases(),
                "When a recording is flushed to disk (fsync): never, at-end of each file, or periodic.",
                memory: nothing),
            ConfigurationKey(
                "destinations", "sync_period_ms", \.syncPeriod, .milliseconds(100...3_600_000), unit: "ms",
                "Interval of sync periodic. A power failure loses at most this much.", memory: nothing)
        ]
    }
}
