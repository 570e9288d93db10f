/// The deliveries that wait for one hook. Pure.
struct WebhookQueue: Sendable {
    static let mostDeliveries = 64
    static let mostBytes = 128 * 1024

    private var waiting: [WebhookMessage] = []
    private var bytes = 0
    /// Deliveries that were dropped because there was no room.
    private(set) var dropped = 0

    var count: Int { waiting.count }

    /// Appends a message. If there is no room, drops the oldest ones.
    mutating func append(_ message: WebhookMessage) {
        waiting.append(message)
        bytes += message.byteCount
        while waiting.count > Self.mostDeliveries || bytes > Self.mostBytes {
            _ = next()
            dropped += 1
        }
    }

    /// Takes the oldest message.
    mutating func next() -> WebhookMessage? {
        guard !waiting.isEmpty else { return nil }
        let message = waiting.removeFirst()
        bytes -= message.byteCount
        return message
    }

    /// Drops all messages.
    mutating func dropAll() {
        dropped += waiting.count
        waiting = []
        bytes = 0
    }
}
