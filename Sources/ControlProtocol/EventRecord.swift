/// An event of the daemon, as `GET /events` sends it.
package struct EventRecord: JSONRecord {
    /// RFC 3339.
    package var time = ""
    /// `info` to `critical`.
    package var level = ""
    /// A `DaemonEvent.Name`. Another version of the daemon may have other names.
    package var name = ""
    package var message = ""
    /// As in the log, without secrets.
    package var fields: [JSONValue.Member] = []

    package init() {}

    package init(time: String, level: String, name: String, message: String, fields: [JSONValue.Member]) {
        (self.time, self.level, self.name, self.message, self.fields) = (time, level, name, message, fields)
    }

    package mutating func visit(_ fields: inout JSONFields) {
        fields("time", &time)
        fields("level", &level)
        fields("event", &name)
        fields("message", &message)
        fields("fields", &self.fields)
    }

    /// The event without its fields. They are too long for it, and are only in the log.
    package var withoutFields: EventRecord {
        var event = self
        event.fields = [.init("too_long", .bool(true))]
        return event
    }
}
