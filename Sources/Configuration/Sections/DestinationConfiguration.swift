package import Endpoints
package import MediaCore

/// One place to publish to.
package struct DestinationConfiguration: Equatable, Sendable, CustomStringConvertible {
    /// Name in logs, status and metrics: at most 32 letters, digits, `.`, `_` and `-`.
    package var name = "main"
    package var url = DestinationURL.none
    /// A file whose first line is the stream key. It is read at each connect.
    package var keyFile: String?
    /// The name of the environment variable with the stream key.
    package var keyEnvironment: String?
    /// A file whose first line is user:password, for servers that require a login.
    package var loginFile: String?
    /// The name of the environment variable with user:password.
    package var loginEnvironment: String?
    /// The stream key itself. Only destinations from requests have it.
    package var key: Secret?
    /// user:password. Only destinations from requests have it.
    package var loginText: Secret?
    /// The folder for the files of a destination from a request. Their paths are relative to it.
    package var secretsFolder: String?
    package var addressTimeout = MediaTime.milliseconds(5_000)
    package var connectTimeout = MediaTime.milliseconds(10_000)
    package var handshakeTimeout = MediaTime.milliseconds(10_000)
    package var sendTimeout = MediaTime.milliseconds(5_000)
    package var acknowledgementTimeout = MediaTime.milliseconds(10_000)
    package var reconnect = true
    package var reconnectFirst = MediaTime.milliseconds(500)
    package var reconnectLongest = MediaTime.milliseconds(30_000)
    /// New attempts in a row before giving up; 0 never gives up.
    package var reconnectAttempts = 0
    /// Whether the video bitrate follows this link.
    package var adaptive = true
    /// Trusted certificates (PEM) instead of the system's.
    package var caFile: String?
    package var verifyTLS = true
    /// Whether to follow redirects to another host.
    package var allowRedirect = false
    /// A new file starts after this many bytes; 0 disables the limit.
    package var rotateBytes = 0
    /// A new file starts after this time; zero disables the limit.
    package var rotateAfter = MediaTime.zero
    package var sync = FileSyncMode.never
    /// For `sync` periodic.
    package var syncPeriod = MediaTime.milliseconds(1_000)
    /// Broadcasts of these source kinds are not sent here.
    package var refusedSources = SourceList()
    /// RTMP chunk size of outgoing messages, in bytes.
    package var chunkSize = 65_536

    package init() {}

    /// Whether the stream key is outside the URL.
    package var hasSeparateKey: Bool { key != nil || keyFile != nil || keyEnvironment != nil }

    /// Whether the login is outside the URL.
    var hasSeparateLogin: Bool { loginText != nil || loginFile != nil || loginEnvironment != nil }

    /// The URL without stream key, user, password and query.
    package var redactedURL: String { url.redacted(keyIsSeparate: hasSeparateKey) }

    /// For logs: the name and the redacted URL.
    package var description: String { "\(name) (\(redactedURL))" }
}

/// When recordings are flushed to disk.
package enum FileSyncMode: String, CaseIterable, Sendable {
    case never, atEnd = "at-end", periodic
}
