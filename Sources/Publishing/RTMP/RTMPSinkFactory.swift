internal import Endpoints
internal import MediaCore

/// Makes the connections to one RTMP server, with the current secrets, and follows redirects.
final class RTMPSinkFactory: SinkFactory {
    /// Limits the redirects within one attempt, which may be a loop.
    private static let maximumRedirects = 10

    private let settings: RTMPDestinationSettings
    private let context: SinkContext
    /// The current target within this attempt, after redirects.
    private var endpoint: RTMPEndpoint
    private var redirects = 0
    /// What earlier connections have shown about the server's acknowledgements.
    private var acknowledgements: AcknowledgementWatch
    /// Whether the last attempt ended because an acknowledgement was overdue.
    private var wasOverdue = false
    /// The connection that the next one within this attempt replaces.
    private var current: RTMPPublisher?

    init(_ settings: RTMPDestinationSettings, _ context: SinkContext) {
        self.settings = settings
        self.context = context
        endpoint = settings.endpoint
        acknowledgements = AcknowledgementWatch(window: settings.acknowledgementWindow)
    }

    func makeSink() throws(PublishError) -> any PublishingSink {
        let redirect = forgetCurrent()
        if let redirect { try follow(redirect) }
        var settings = try settingsWithSecrets()
        // A server may put a part of the key into its URL.
        let isOurs = endpoint == settings.endpoint
        let location = isOurs ? endpoint.description : ServerText(endpoint.description, hiding: settings).shown
        settings.endpoint = endpoint
        if redirect != nil { context.onNotice("going on at \(location), as the server asked") }
        if endpoint.isSecure, !settings.verifiesCertificate {
            context.onWarning(
                "the server's certificate is NOT verified: whoever is in between can read stream and key")
        }
        acknowledgements.reconnect(wasOverdue: wasOverdue)
        let publisher = RTMPPublisher(
            settings: settings, location: location, format: context.format, clock: context.clock,
            control: context.control, files: context.files, acknowledgements: acknowledgements,
            onNotice: context.onNotice)
        current = publisher
        return publisher
    }

    /// The redirect may be wrong, so the next attempt uses the operator's URL.
    func attemptFailed(_ error: PublishError) {
        _ = forgetCurrent()
        wasOverdue = error.cause == .acknowledgementTimeout
        redirects = 0
        endpoint = settings.endpoint
    }

    /// Keeps what the current connection has learned, and returns its redirect.
    private func forgetCurrent() -> RTMPEndpoint? {
        guard let current else { return nil }
        self.current = nil
        acknowledgements = current.acknowledgements
        return current.redirect
    }

    private func follow(_ redirect: RTMPEndpoint) throws(PublishError) {
        redirects += 1
        guard redirects <= Self.maximumRedirects else {
            throw PublishError(
                .protocolViolation, "the server redirected more than \(Self.maximumRedirects) times in a row")
        }
        endpoint = redirect
    }

    private func settingsWithSecrets() throws(PublishError) -> RTMPDestinationSettings {
        guard let read = settings.readSecrets else { return settings }
        let secrets: RTMPSecrets
        if let files = context.files, !settings.secretFiles.isEmpty {
            secrets = try files.read(settings.secretFiles, .secret, read)
        } else {
            secrets = try read()
        }
        var settings = settings
        settings.key = secrets.key ?? settings.key
        settings.credentials = secrets.credentials ?? settings.credentials
        return settings
    }
}
