package import Endpoints
package import MediaCore

/// One place to publish to.
package struct DestinationConfiguration: Equatable, Sendable, CustomStringConvertible {
    /// Letters, digits, `.`, `_`, `-`, at most 32; what logs, status and metrics call it.
    package var name = "main"
    package var url = DestinationURL.none
    /// A file whose first line is the stream key; read when connecting.
    package var keyFile: String?
    /// The name of the environment variable that holds the stream key.
    package var keyEnvironment: String?
    /// A file whose first line is user:password, for servers that want a login.
    package var loginFile: String?
    /// The name of the environment variable that holds user:password.
    package var loginEnvironment: String?
    /// The stream key itself; only of a destination that was added by a request.
    package var key: Secret?
    /// user:password; only of a destination that was added by a request.
    package var loginText: Secret?
    /// The files of a destination that was added by a request are beneath this folder, and their names relative to it.
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
    /// Whether the server may send us to another host.
    package var allowRedirect = false
    /// A new file begins after as many bytes; 0 for no such bound.
    package var rotateBytes = 0
    /// A new file begins after as long a time; zero for no such bound.
    package var rotateAfter = MediaTime.zero
    package var sync = FileSyncMode.never
    /// For `sync` periodic.
    package var syncPeriod = MediaTime.milliseconds(1_000)
    /// Nothing of what comes from these goes there.
    package var refusedSources = SourceList()
    /// Bytes of an RTMP chunk that we send.
    package var chunkSize = 65_536

    package init() {}

    /// Whether the stream key stands outside the URL.
    package var hasSeparateKey: Bool { key != nil || keyFile != nil || keyEnvironment != nil }

    /// Whether user and password stand outside the URL.
    var hasSeparateLogin: Bool { loginText != nil || loginFile != nil || loginEnvironment != nil }

    /// The URL for people: no stream key, user, password or query.
    package var redactedURL: String { url.redacted(keyIsSeparate: hasSeparateKey) }

    /// For logs: the name and the redacted URL.
    package var description: String { "\(name) (\(redactedURL))" }
}

/// When recordings are forced to the disk.
package enum FileSyncMode: String, CaseIterable, Sendable {
    case never, atEnd = "at-end", periodic
}
