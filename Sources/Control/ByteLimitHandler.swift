internal import NIOCore

/// Counts the bytes of a connection before they are parsed, and closes it at the limit.
///
/// Lives on its connection's event loop.
final class ByteLimitHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Fired once. No further bytes are forwarded.
    struct Exceeded: Error {
        /// Whether it was the head, or what follows it.
        let inHead: Bool
    }

    private let maxBodyBytes: Int
    private var left: Int
    private var headIsComplete = false
    private var isExceeded = false

    init(_ limits: ControlLimits) {
        maxBodyBytes = limits.maxBodyBytes
        left = limits.maxHeadBytes
    }

    /// From here on the body's bytes count, with as much again for the framing of a chunked body.
    func headCompleted() {
        guard !headIsComplete else { return }
        headIsComplete = true
        left = 2 * maxBodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        while !isExceeded, buffer.readableBytes > 0 {
            guard left > 0, let part = buffer.readSlice(length: min(left, buffer.readableBytes)) else {
                isExceeded = true
                context.fireErrorCaught(Exceeded(inHead: !headIsComplete))
                return
            }
            left -= part.readableBytes
            context.fireChannelRead(wrapInboundOut(part))
        }
    }
}
