internal import Endpoints
internal import MediaCore

/// Makes the connections to one RTMP server: with the secrets of the moment, and to where the last one was sent.
final class RTMPSinkFactory: SinkFactory {
    /// Bounds redirect loops within one attempt.
    private static let maximumRedirects = 10

    private let settings: RTMPDestinationSettings
    private let context: SinkContext
    /// Where the server wants its publisher within this attempt.
    private var endpoint: RTMPEndpoint
    private var redirects = 0
    /// What has been learnt of the server's acknowledgements.
    private var acknowledgements: AcknowledgementWatch
    /// The last attempt was given up because of them.
    private var wasOverdue = false
    /// The connection that a next one within this attempt replaces.
    private var current: RTMPPublisher?

    let headroom = RTMPPublisher.headroom
    let tailroom = 0

    init(_ settings: RTMPDestinationSettings, _ context: SinkContext) {
        self.settings = settings
        self.context = context
        endpoint = settings.endpoint
        acknowledgements = AcknowledgementWatch(window: settings.acknowledgementWindow)
    }

    func makeSink() throws(PublishError) -> any PublishingSink {
        if let redirect = forgetCurrent() { try follow(redirect) }
        var settings = try settingsWithSecrets()
        settings.endpoint = endpoint
        if endpoint.isSecure, !settings.verifiesCertificate {
            context.onWarning(
                "the server's certificate is NOT verified: whoever is in between can read stream and key")
        }
        acknowledgements.reconnect(wasOverdue: wasOverdue)
        let publisher = RTMPPublisher(
            settings: settings, format: context.format, clock: context.clock, control: context.control,
            files: context.files, acknowledgements: acknowledgements, onNotice: context.onNotice)
        current = publisher
        return publisher
    }

    /// Where a server sent us may be wrong; what the operator said is tried again.
    func attemptFailed(_ error: PublishError) {
        _ = forgetCurrent()
        wasOverdue = error.kind == .acknowledgementTimeout
        redirects = 0
        endpoint = settings.endpoint
    }

    /// Keeps what the present connection has learnt; returns where it was sent.
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
        context.onNotice("going on at \(redirect), as the server asked")
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
