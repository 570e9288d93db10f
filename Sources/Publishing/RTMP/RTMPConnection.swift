internal import Endpoints
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// One RTMP connection up to the accepted "publish", and all messages except media. One thread.
final class RTMPConnection {
    private let settings: RTMPDestinationSettings
    private let clock: any TimeSource
    private let files: FileReading?
    private let onNotice: (String) -> Void
    private(set) var socket: RTMPSocket
    private(set) var handle: RTMPHandle
    private(set) var session: RTMPSession
    /// Where the server redirects the publisher, if that is allowed.
    private(set) var redirect: RTMPEndpoint?
    private var hasRefusedRedirect = false
    private var reader = RTMPChunkReader()
    /// The description of a refusal that asks for a login; nil if the server asks for none.
    private var loginRequest: String?
    /// The query that answers `loginRequest`.
    private var login = ""
    private var inbound = [UInt8](repeating: 0, count: 4096)
    /// True until media may be sent. Later messages belong to an accepted stream.
    private var isOpening = true
    /// Bytes that followed the message that accepted the stream.
    private var unparsed: [UInt8] = []

    /// The most reads and pongs in one call of `service`, so that a server cannot block media.
    private static let readsPerService = 16
    private static let pongsPerService = 4

    /// Resolves, connects and publishes. Returns when media may be sent; each step has its deadline.
    init(
        settings: RTMPDestinationSettings, clock: any TimeSource, control: PublishControl,
        files: FileReading?, onNotice: @escaping (String) -> Void
    ) throws(PublishError) {
        try RTMPLibrary.selfTest()
        self.settings = settings
        self.clock = clock
        self.files = files
        self.onNotice = onNotice
        session = RTMPSession(window: settings.acknowledgementWindow)
        let endpoint = settings.endpoint
        let connectDeadline = clock.now() + settings.connectTimeout
        let addresses = try HostResolver.addresses(
            of: endpoint.host, port: endpoint.port, control: control, until: connectDeadline)
        let connector = TCPConnector(
            addressTimeout: settings.addressTimeout, sendTimeout: settings.sendTimeout, clock: clock, control: control)
        let descriptor = try connector.connect(to: SocketAddress.alternating(addresses), until: connectDeadline)
        let server = SocketAddress(peerOf: descriptor.raw)
        socket = RTMPSocket(descriptor, host: endpoint.host, control: control)
        handle = RTMPHandle(socket: socket)
        let deadline = clock.now() + settings.handshakeTimeout
        var authentication = RTMPAuthentication(settings.credentials)
        try reachMedia(until: deadline)
        while let request = loginRequest {
            try answer(request, with: &authentication)
            // The challenge is valid only on the server that made it.
            let again = try connector.connect(to: server.map { [$0] } ?? addresses, until: deadline)
            socket = RTMPSocket(again, host: endpoint.host, control: control)
            handle = RTMPHandle(socket: socket)
            session = RTMPSession(window: settings.acknowledgementWindow)
            reader = RTMPChunkReader()
            try reachMedia(until: deadline)
        }
        isOpening = false
        socket.setResetsOnClose(true)
        socket.limitUnsent(to: settings.sendAheadBytes)
        socket.patience = settings.sendTimeout
        socket.timeoutCause = .sendTimeout
    }

    /// Runs the exchange on a connected socket until media may be sent, or the server asks for a login.
    private func reachMedia(until deadline: MediaTime) throws(PublishError) {
        loginRequest = nil
        socket.limit(to: deadline)
        if settings.endpoint.isSecure {
            try socket.startTLS(
                authorities: settings.verifiesCertificate
                    ? TrustedAuthorities(caFile: settings.caFile, beneath: settings.caFolder, files: files) : nil)
        }
        try handle.handshake(connect: RTMPCommand.connect(to: settings.endpoint, login: login))
        let early = handle.takeEarlyBytes()
        var pongs = 0
        try parse(early, early.count, pongs: &pongs)
        while session.phase != .live, loginRequest == nil {
            guard try socket.waitForInput(until: deadline) else {
                throw PublishError(.handshakeTimeout, "\(waitingFor) did not come in time")
            }
            try readAvailable()
        }
    }

    /// Computes the query of the next `connect`.
    private func answer(_ request: String, with authentication: inout RTMPAuthentication) throws(PublishError) {
        let isFirst = login.isEmpty
        do {
            login = try authentication.answer(to: request, app: settings.endpoint.app)
            if isFirst, !settings.endpoint.isSecure {
                let what = "the user's name and a digest of the password go over an unencrypted connection"
                onNotice("\(what); rtmps:// hides them")
            }
        } catch {
            switch error {
            case .missingCredentials:
                throw PublishError(
                    .credentials,
                    "the server wants a login: set login_file to a file with user:password")
            case .refused: throw PublishError(.credentials, "the server does not accept the user or the password")
            case .badChallenge(let why):
                throw PublishError(.protocolViolation, "the server's login challenge cannot be answered: \(why)")
            }
        }
    }

    private var waitingFor: String {
        switch session.phase {
        case .connecting: "the server's answer to connect"
        case .creatingStream: "the server's answer to createStream"
        default: "the server's answer to publish"
        }
    }

    /// Reads and answers the server's messages without waiting. Throws if the server ended the stream or the
    /// connection.
    func service() throws(PublishError) {
        socket.limit(to: clock.now() + settings.sendTimeout)
        try readAvailable()
    }

    /// Sends FCUnpublish and deleteStream, and waits until `deadline` for the server to close. Closing earlier, with
    /// unread input, would reset the connection and discard bytes that the server has not read.
    ///
    /// If the server keeps the connection open, the wait ends `closingGrace` after its kernel has confirmed everything.
    /// The connection is closed without a reset only if the kernel has confirmed everything.
    ///
    /// - Parameter isCut: called while bytes are on their way; true if the curtain has discarded them.
    /// - Returns: nil if the server has closed and its kernel has confirmed every byte, or why bytes may be lost. If a
    ///   server that never acknowledges stays connected, the confirmation is enough.
    func unpublish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? {
        defer { if socket.unsent.isAcknowledged { socket.setResetsOnClose(false) } }
        socket.limit(to: deadline)
        session.beginUnpublishing()
        try handle.send(.commandAMF0, on: .command, body: RTMPCommand.fcUnpublish(settings.key))
        try handle.send(.commandAMF0, on: .command, body: RTMPCommand.deleteStream(session.streamID ?? 0))
        socket.bye()
        socket.shutdownSending()
        var graceEnd: MediaTime?
        var hasServerClosed = false
        while true {
            let now = clock.now()
            // In this order: a connection that ends in between is confirmed.
            let isBroken = socket.isBroken
            let isConfirmed = socket.unsent.isAcknowledged
            if hasServerClosed {
                // A server can close its side before it has read all of our bytes.
                if isConfirmed { return nil }
                if isBroken {
                    let what = "the connection broke before the server had confirmed the end of the stream"
                    return PublishError(.connectionLost, what)
                }
            }
            if isCut() { return .cutByCurtain }
            if graceEnd == nil, isConfirmed { graceEnd = now + settings.closingGrace }
            if let graceEnd, now >= graceEnd {
                guard session.acknowledgedBytes != nil else { return nil }
                let what = "the server has not closed within \(settings.closingGrace) after the end of the stream"
                return PublishError(.sendTimeout, what)
            }
            guard now < deadline else {
                return PublishError(.sendTimeout, "the server has not taken the end of the stream in time")
            }
            let wait = min(deadline, graceEnd ?? now + Self.closingPoll)
            do throws(PublishError) {
                if hasServerClosed {
                    try socket.pause(until: wait)
                } else if try socket.waitForInput(until: wait) {
                    try readAvailable()
                }
            } catch {
                // The server's close is expected. Any other error may have lost bytes.
                switch error.cause {
                case .closedByServer: hasServerClosed = true
                case .cancelled: throw error
                default: return error
                }
            }
        }
    }

    /// The period of checks for confirmations and losses, which poll does not report.
    private static let closingPoll = MediaTime.milliseconds(10)

    // MARK: Inbound

    private func readAvailable() throws(PublishError) {
        var pongs = 0
        if !isOpening, !unparsed.isEmpty {
            let rest = unparsed
            unparsed = []
            try parse(rest, rest.count, pongs: &pongs)
        }
        for _ in 0..<Self.readsPerService {
            let count = try receive()
            guard count > 0 else { break }
            try parse(inbound, count, pongs: &pongs)
            // After a refusal that asks for a login, the server closes, which is not an error.
            if loginRequest != nil || (isOpening && session.phase == .live) { return }
        }
        if let count = session.acknowledgementDue(received: socket.bytesReceived) {
            try handle.send(.acknowledgement, on: .control, word: count)
        }
    }

    /// Servers often refuse a publisher by closing, so the error names the awaited answer.
    private func receive() throws(PublishError) -> Int {
        do {
            return try socket.receive(into: &inbound)
        } catch {
            guard error.cause == .closedByServer else { throw error }
            let hint =
                switch session.phase {
                case .connecting:
                    " instead of answering connect: it may not know the application, or deny the publisher"
                case .creatingStream, .startingPublish:
                    " instead of accepting the stream: \(PublishError.wordlessCauses)"
                case .live, .unpublishing, .over: ""
                }
            throw PublishError(.closedByServer, PublishError.closedWithoutWord + hint)
        }
    }

    private func parse(_ bytes: [UInt8], _ count: Int, pongs: inout Int) throws(PublishError) {
        var position = 0
        while true {
            let action: RTMPSession.Action
            do {
                guard let message = try reader.next(from: bytes.span.extracting(first: count), at: &position)
                else { return }
                action = try session.receive(message)
            } catch {
                throw PublishError(.protocolViolation, "the server does not keep to RTMP: \(error)")
            }
            if case .pong = action {
                pongs += 1
                guard pongs <= Self.pongsPerService else { continue }
            }
            try act(action)
            if isOpening, session.phase == .live {
                unparsed = Array(bytes[position..<count])
                return
            }
        }
    }

    private func act(_ action: RTMPSession.Action) throws(PublishError) {
        switch action {
        case .none, .beginMedia, .unpublished: break
        case .createStream:
            try handle.send(
                .windowAcknowledgementSize, on: .control, word: settings.acknowledgementWindow)
            try handle.setChunkSize(settings.chunkSize)
            try handle.send(.commandAMF0, on: .command, body: RTMPCommand.releaseStream(settings.key))
            try handle.send(.commandAMF0, on: .command, body: RTMPCommand.fcPublish(settings.key))
            try handle.send(.commandAMF0, on: .command, body: RTMPCommand.createStream())
        case .publish(let streamID):
            try handle.send(
                .commandAMF0, on: .command, streamID: streamID, body: RTMPCommand.publish(settings.key))
        case .pong(let number): try handle.sendPong(number)
        case .confirmWindow(let size): try handle.send(.windowAcknowledgementSize, on: .control, word: size)
        case .reconnectRequested(let tcURL): consider(tcURL)
        case .failed(let rejection):
            guard rejection.subject == .connect, RTMPAuthentication.isAsked(by: rejection.text) else {
                throw error(for: rejection)
            }
            loginRequest = rejection.text
        }
    }

    /// Accepts or refuses a redirect. Reports only the first refusal.
    private func consider(_ tcURL: String?) {
        do {
            redirect = try RTMPRedirect(tcURL, from: settings).endpoint
        } catch {
            guard !hasRefusedRedirect else { return }
            hasRefusedRedirect = true
            let why = ServerText(error.why, hiding: settings, login: login).shown
            onNotice("the server asked for a reconnect \(why); the connection is kept as long as the server keeps it")
        }
    }

    /// Status codes of servers that start, stop or move. They do not concern this publisher.
    private static let passingCodes: Set<String> = [
        "NetConnection.Connect.AppShutdown", "NetConnection.Connect.Failed", "NetConnection.Connect.Closed",
        "NetConnection.Connect.IdleTimeout", "NetConnection.Connect.NetworkChange",
    ]

    private func error(for rejection: RTMPRejection) -> PublishError {
        let words = ServerText(rejection.text, hiding: settings, login: login).shown
        let code = ServerText(rejection.code, hiding: settings, login: login).shown
        let reason = [code, words].filter { !$0.isEmpty }.joined(separator: ": ")
        let because = reason.isEmpty ? " without saying why" : " (\(reason))"
        if rejection.isNameInUse {
            return PublishError(.nameInUse, "another publisher holds the stream's name\(because)")
        }
        if Self.passingCodes.contains(rejection.code) {
            return PublishError(.closedByServer, "the server takes no publisher now\(because)")
        }
        switch rejection.subject {
        case .connect: return PublishError(.rejected, "the server rejected the application\(because)")
        case .createStream: return PublishError(.rejected, "the server gave no stream\(because)")
        case .publish: return PublishError(.rejected, "the server rejected the stream\(because)")
        case .stream: return PublishError(.closedByServer, "the server ended the stream\(because)")
        }
    }
}
