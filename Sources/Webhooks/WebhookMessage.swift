package import ControlProtocol

/// An event on its way to webhooks. All hooks share its bytes.
package struct WebhookMessage: Sendable, Equatable {
    /// In a message with more bytes, `too_long` takes the place of the fields. They are in the log.
    package static let maximumBytes = 2048

    package let id: String
    package let type: String
    /// The body without the count of dropped deliveries and the closing brace.
    private let head: [UInt8]

    /// - Parameters:
    ///   - number: the number of the event in `/events`. It rises, also over restarts.
    ///   - instance: the name of this machine.
    package init(number: UInt64, _ event: EventRecord, instance: String) {
        func body(_ event: EventRecord) -> [UInt8] {
            Array(
                JSONValue.object([
                    .init("type", .string(event.name)), .init("timestamp", .string(event.time)),
                    .init("instance", .string(instance)), .init("level", .string(event.level)),
                    .init("message", .string(event.message)), .init("data", .object(event.fields)),
                ]).serialized().dropLast())
        }
        id = "msg_\(number)"
        type = event.name
        let whole = body(event)
        head = whole.count <= Self.maximumBytes ? whole : body(event.withoutFields)
    }

    var byteCount: Int { head.count }

    /// The body as it is sent. It is the same for all attempts.
    ///
    /// - Parameter dropped: deliveries to this hook that have been dropped since the daemon started.
    func body(dropped: Int) -> [UInt8] { head + Array(",\"dropped\":\(dropped)}".utf8) }
}
