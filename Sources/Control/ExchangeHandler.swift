internal import NIOCore
internal import NIOHTTP1

/// One connection: reads one request, answers it, and closes. Further input is dropped. Only a stream stays: while its
/// client reads it or, if the stream allows that, until its client disconnects.
///
/// One request per connection keeps every bound simple. There is no pipelining, and a client can occupy its place for
/// at most the two timeouts. Lives on its connection's event loop.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case reading(HTTPRequestHead?, body: [UInt8])
        /// The answer comes from another thread.
        case waiting
        case streaming
        case answered
    }

    private let routes: ControlRoutes
    private let limits: ControlLimits
    private let byteLimit: ByteLimitHandler
    private let connections: OpenConnections
    /// The client must send one of these; nil if the socket's permissions decide.
    private let tokens: ControlTokens?
    private let onRefusedToken: @Sendable (RefusedToken) -> Void
    private let peer: ControlPeer
    /// The answer to any request, sent at once; nil if the connection is accepted.
    private let refusal: ControlResponse?
    private var state = State.reading(nil, body: [])
    private var timeout: Scheduled<Void>?
    private var ticker: RepeatedTask?
    /// Checks faster until the first bytes of the stream.
    private var starter: RepeatedTask?
    /// The generation of the tokens when the request came.
    private var tokenGeneration: Int?
    private var streamOwner: OpenConnections.StreamOwner?
    private var streamed: Streamed?
    /// Tells the stream's source that the stream has ended.
    private var closeStream: (@Sendable () -> Void)?

    private struct Streamed {
        let next: (Int64) -> [UInt8]
        let outlastsSilence: Bool
        let start: NIODeadline
        var lastWritable: NIODeadline
    }

    /// The maximum time of the faster checks of a stream.
    private static let starting = TimeAmount.seconds(1)

    init(
        routes: ControlRoutes, limits: ControlLimits, byteLimit: ByteLimitHandler, connections: OpenConnections,
        tokens: ControlTokens?, onRefusedToken: @escaping @Sendable (RefusedToken) -> Void, peer: ControlPeer,
        refusal: ControlResponse?
    ) {
        self.routes = routes
        self.limits = limits
        self.byteLimit = byteLimit
        self.connections = connections
        self.tokens = tokens
        self.onRefusedToken = onRefusedToken
        self.peer = peer
        self.refusal = refusal
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal { return answer(refusal, isHead: false, context) }
        after(limits.requestTimeoutMilliseconds, context) { handler, context in
            handler.answer(
                .failure(
                    408, "request_timeout",
                    "the request was not complete after \(handler.limits.requestTimeoutMilliseconds) ms"),
                isHead: false, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timeout?.cancel()
        ticker?.cancel()
        starter?.cancel()
        connections.closed(context.channel, stream: streamOwner)
        closeStream?()
        closeStream = nil
        state = .answered
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .reading(let head, var body) = state else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            byteLimit.headCompleted()
            state = .reading(head, body: body)
        case .body(let part):
            body += part.readableBytesView
            guard body.count <= limits.maxBodyBytes else {
                return answer(tooLarge(inHead: false), isHead: false, context)
            }
            state = .reading(head, body: body)
        case .end:
            guard let head else { return context.close(promise: nil) }
            connections.complete(context.channel)
            let isHead = head.method == .HEAD
            var request = ControlRequest(
                method: isHead ? "GET" : head.method.rawValue, target: head.uri,
                headers: head.headers.map { ($0.name, $0.value) }, body: body)
            request.peer = peer
            // Read before the tokens are checked, because they may be replaced meanwhile.
            tokenGeneration = tokens?.generation
            if let holder = tokens?.peer(of: request) {
                request.peer = holder
            } else if tokens != nil, !routes.isOpen(request) {
                let refused = RefusedToken(request, peer: context.channel.remoteAddress?.ipAddress ?? "unknown")
                onRefusedToken(refused)
                return answer(ControlToken.refusal(isWrong: refused.isWrong), isHead: isHead, context)
            }
            switch routes.answer(to: request) {
            case .response(let response): answer(response, isHead: isHead, context)
            case .later(let milliseconds, let period, let poll, let otherwise):
                wait(milliseconds, every: period, isHead: isHead, context, poll, otherwise)
            case .stream(let stream): begin(stream, isHead: isHead, context)
            }
        }
    }

    private func wait(
        _ milliseconds: Int64, every period: Int64, isHead: Bool, _ context: ChannelHandlerContext,
        _ poll: @escaping @Sendable () -> ControlResponse?, _ otherwise: @escaping @Sendable () -> ControlResponse
    ) {
        state = .waiting
        after(milliseconds, context) { handler, context in handler.answer(otherwise(), isHead: isHead, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ticker = context.eventLoop.scheduleRepeatedTask(
            initialDelay: .zero, delay: .milliseconds(period)
        ) { _ in
            let (handler, context) = bound.value
            if let response = poll() { handler.answer(response, isHead: isHead, context) }
        }
    }

    // MARK: Streams

    private func begin(_ stream: ControlStream, isHead: Bool, _ context: ChannelHandlerContext) {
        let owner = OpenConnections.StreamOwner(peer)
        guard connections.beginStream(for: owner, atMost: limits.maxStreams) else {
            return answer(
                .failure(
                    503, "too_many_streams",
                    "\(limits.maxStreams) are open, or \(limits.maxStreams / 2) of this user's; close one, or try "
                        + "again"),
                isHead: isHead, context)
        }
        streamOwner = owner
        state = .streaming
        timeout?.cancel()
        let head = HTTPResponseHead(
            version: .http1_1, status: .ok,
            headers: [
                "Content-Type": stream.contentType, "Cache-Control": "no-store", "Connection": "close",
                "X-Accel-Buffering": "no",
            ])
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        // A client that is gone makes the write fail, which ends the connection before the call returns.
        guard case .streaming = state else { return }
        guard !isHead else { return context.close(promise: nil) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        // Called from any thread; the loop then checks as soon as it is free.
        closeStream = stream.open { eventLoop.execute { bound.value.0.stream(bound.value.1) } }
        streamed = Streamed(
            next: stream.begin(), outlastsSilence: stream.outlastsSilence, start: context.eventLoop.now,
            lastWritable: context.eventLoop.now)
        ticker = context.eventLoop.scheduleRepeatedTask(
            initialDelay: .zero, delay: .milliseconds(stream.period)
        ) { _ in bound.value.0.stream(bound.value.1) }
        guard let period = stream.startPeriod else { return }
        let end = context.eventLoop.now + Self.starting
        starter = context.eventLoop.scheduleRepeatedTask(
            initialDelay: .milliseconds(period), delay: .milliseconds(period)
        ) { task in
            let (handler, context) = bound.value
            guard context.eventLoop.now < end else { return task.cancel() }
            handler.stream(context)
        }
    }

    /// Writes nothing while the client has unread bytes, so that a slow client costs no more memory.
    private func stream(_ context: ChannelHandlerContext) {
        guard let streamed, case .streaming = state else { return }
        // The token that this client has shown may not be valid any more.
        guard tokens?.generation == tokenGeneration else { return context.close(promise: nil) }
        let now = context.eventLoop.now
        guard context.channel.isWritable else {
            if !streamed.outlastsSilence,
                now - streamed.lastWritable > .milliseconds(limits.responseTimeoutMilliseconds)
            {
                context.close(promise: nil)
            }
            return
        }
        self.streamed?.lastWritable = now
        let bytes = streamed.next((now - streamed.start).nanoseconds / 1_000_000)
        guard !bytes.isEmpty else { return }
        starter?.cancel()
        starter = nil
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
    }

    /// Continues as soon as a slow client reads again.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { stream(context) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has sent everything. It may still wait for its answer.
        guard event as? ChannelEvent == .inputClosed else { return }
        switch state {
        case .reading, .streaming: context.close(promise: nil)
        case .waiting, .answered: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .reading = state else {
            // The answer could not be written, because the client is gone.
            if !(error is HTTPParserError || error is ByteLimitHandler.Exceeded) { context.close(promise: nil) }
            return
        }
        switch error {
        case let error as ByteLimitHandler.Exceeded: answer(tooLarge(inHead: error.inHead), isHead: false, context)
        case HTTPParserError.headerOverflow: answer(tooLarge(inHead: true), isHead: false, context)
        case is HTTPParserError:
            answer(.failure(400, "bad_request", "this is not an HTTP/1.1 request"), isHead: false, context)
        default: context.close(promise: nil)
        }
    }

    private func tooLarge(inHead: Bool) -> ControlResponse {
        inHead
            ? .failure(431, "head_too_large", "request line and headers may have \(limits.maxHeadBytes) bytes")
            : .failure(413, "body_too_large", "the body may have \(limits.maxBodyBytes) bytes")
    }

    private func answer(_ response: ControlResponse, isHead: Bool, _ context: ChannelHandlerContext) {
        switch state {
        case .reading, .waiting: break
        case .streaming, .answered: return
        }
        state = .answered
        ticker?.cancel()
        after(limits.responseTimeoutMilliseconds, context) { _, context in context.close(promise: nil) }

        var headers = HTTPHeaders()
        headers.add(name: "Content-Type", value: response.contentType)
        headers.add(name: "Content-Length", value: "\(response.body.count)")
        headers.add(name: "Cache-Control", value: "no-store")
        headers.add(name: "Connection", value: "close")
        for (name, value) in response.headers { headers.add(name: name, value: value) }
        let status = HTTPResponseStatus(statusCode: response.status)
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { [connections] _ in
            connections.leaves(bound.value.channel)
            bound.value.close(promise: nil)
        }
    }

    /// Replaces the running timeout.
    private func after(
        _ milliseconds: Int64, _ context: ChannelHandlerContext,
        _ body: @escaping @Sendable (ExchangeHandler, ChannelHandlerContext) -> Void
    ) {
        timeout?.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timeout = context.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { body(bound.value.0, bound.value.1) }
    }
}
