package import ControlProtocol

/// An event on its way to webhooks. All hooks share its bytes.
package struct WebhookMessage: Sendable, Equatable {
    /// Beyond this many bytes, `too_long` takes the place of the fields. They are in the log.
    package static let maximumBytes = 2048

    package let id: String
    package let type: String
    /// The body without the count of dropped deliveries and the closing brace.
    private let head: [UInt8]

    /// - Parameters:
    ///   - number: the number of the event in `/events`. It rises, also over restarts.
    ///   - time: RFC 3339.
    ///   - instance: the name of this machine.
    package init(
        number: UInt64, time: String, level: String, name: DaemonEvent.Name, message: String,
        fields: [JSONValue.Member], instance: String
    ) {
        func body(_ fields: [JSONValue.Member]) -> [UInt8] {
            Array(
                JSONValue.object([
                    .init("type", .string(name.rawValue)), .init("timestamp", .string(time)),
                    .init("instance", .string(instance)), .init("level", .string(level)),
                    .init("message", .string(message)), .init("data", .object(fields)),
                ]).serialized().dropLast())
        }
        id = "msg_\(number)"
        type = name.rawValue
        let whole = body(fields)
        head = whole.count <= Self.maximumBytes ? whole : body([.init("too_long", .bool(true))])
    }

    var byteCount: Int { head.count }

    /// The body as it is sent. It is the same for all attempts.
    ///
    /// - Parameter dropped: deliveries to this hook that have been dropped since the daemon started.
    func body(dropped: Int) -> [UInt8] { head + Array(",\"dropped\":\(dropped)}".utf8) }
}
