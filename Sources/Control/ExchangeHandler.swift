internal import NIOCore
internal import NIOHTTP1

/// One connection: takes one request, answers it, closes. Whatever else the client sends is dropped.
///
/// One request a connection keeps every bound simple: there is nothing to pipeline, and a client can hold its place for
/// the two timeouts at most. Lives on its connection's event loop.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case reading(HTTPRequestHead?, body: [UInt8])
        case answered
    }

    private let routes: ControlRoutes
    private let limits: ControlLimits
    private let byteLimit: ByteLimitHandler
    /// Answered at once, whatever the request.
    private let refusal: ControlResponse?
    private var state = State.reading(nil, body: [])
    private var timeout: Scheduled<Void>?

    init(routes: ControlRoutes, limits: ControlLimits, byteLimit: ByteLimitHandler, refusal: ControlResponse?) {
        self.routes = routes
        self.limits = limits
        self.byteLimit = byteLimit
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
            let isHead = head.method == .HEAD
            let request = ControlRequest(method: isHead ? "GET" : head.method.rawValue, target: head.uri, body: body)
            answer(routes.respond(to: request), isHead: isHead, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has no more to send. It may still wait for an answer that is on its way.
        if case .reading = state, event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .reading = state else {
            // The answer could not be written: nobody is there.
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
        guard case .reading = state else { return }
        state = .answered
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
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
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
