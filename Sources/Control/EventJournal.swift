internal import ControlProtocol
internal import LinuxSystem

/// What the daemon said lately, for whoever watches: every log event from `info` on, under a name of its own.
///
/// Any thread. Holds `capacity` events of at most `maxEventBytes` bytes; the oldest go first.
package final class EventJournal: Sendable {
    package struct Event: Equatable, Sendable {
        /// Counts up by one for the life of the daemon.
        package var id: UInt64
        /// The message in snake case: `destination_live`.
        package var name: String
        /// One line of JSON.
        package var json: [UInt8]
    }

    package static let capacity = 256
    package static let maxEventBytes = 2048

    private struct State {
        var events: [Event] = []
        /// Where the oldest stands once the ring is full.
        var oldest = 0
        var lastID: UInt64 = 0
    }

    private let state: Monitor<State>

    /// - Parameter id: the first event has the next one. It must rise from one start of the daemon to the next: what a
    ///   watcher has seen of the daemon before must be none of this one's, or it would miss as many events of this one.
    package init(after id: UInt64 = 0) {
        var state = State()
        state.lastID = id
        self.state = Monitor(state)
    }

    /// Bytes that a full journal holds, at the usual length of an event.
    package static let memoryBytes = capacity * 512

    /// Takes an event; fields must hold no secret, as in the log.
    ///
    /// - Parameter time: RFC 3339.
    package func append(time: String, level: String, message: String, fields: [(name: String, value: String)]) {
        let members = fields.map { JSONValue.Member($0.name, .string($0.value)) }
        func line(_ members: [JSONValue.Member]) -> [UInt8] {
            JSONValue.object([
                .init("time", .string(time)), .init("level", .string(level)), .init("message", .string(message)),
                .init("fields", .object(members)),
            ]).serialized()
        }
        var json = line(members)
        // Fields that are too long for all watchers are in the log.
        if json.count > Self.maxEventBytes { json = line([.init("too_long", .bool(true))]) }
        let name = Self.name(of: message)
        state.withLock { state in
            state.lastID += 1
            let event = Event(id: state.lastID, name: name, json: json)
            if state.events.count < Self.capacity {
                state.events.append(event)
            } else {
                state.events[state.oldest] = event
                state.oldest = (state.oldest + 1) % Self.capacity
            }
        }
    }

    /// Those after `id`, the oldest first. An id that was never given, because the daemon has been started anew since,
    /// counts as none.
    package func events(after id: UInt64) -> [Event] {
        state.withLock { state in
            let after = id > state.lastID ? 0 : id
            guard after < state.lastID else { return [] }
            let ordered = state.events[state.oldest...] + state.events[..<state.oldest]
            return ordered.filter { $0.id > after }
        }
    }

    private static func name(of message: String) -> String {
        let isWord = { (scalar: Unicode.Scalar) in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
        let words = message.lowercased().unicodeScalars.split { !isWord($0) }
        return words.isEmpty ? "event" : words.map { String(String.UnicodeScalarView($0)) }.joined(separator: "_")
    }
}
