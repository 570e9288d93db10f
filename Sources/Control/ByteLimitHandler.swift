internal import NIOCore

/// Counts the bytes of a connection before they are parsed, and closes it at the limit.
///
/// Lives on its connection's event loop.
final class ByteLimitHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Fired once. No more bytes are forwarded afterwards.
    struct Exceeded: Error {
        /// Whether the head or the part after it exceeded the limit.
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

    /// Counts the body's bytes from here on. The limit is twice the body's, because a chunked body needs framing.
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
