package import ControlProtocol
internal import LinuxSystem

/// What happened in the daemon lately, for whoever watches: every `DaemonEvent` from `info` on.
///
/// Any thread. Holds `capacity` events of at most `maxEventBytes` bytes. Where there is no room, the oldest goes; but
/// where one name has more than `share` of them, the oldest of that name, so that what happens all the time does not
/// push out what happens rarely.
package final class EventJournal: Sendable {
    package struct Event: Equatable, Sendable {
        /// Counts up by one for the life of the daemon.
        package var id: UInt64
        /// As `DaemonEvent.Name` has it: `destination_live`.
        package var name: String
        /// One line of JSON.
        package var json: [UInt8]
    }

    package static let capacity = 256
    static let share = capacity / 8
    package static let maxEventBytes = 2048

    private struct State {
        /// The oldest first.
        var events: [Event] = []
        var lastID: UInt64 = 0

        mutating func makeRoom() {
            guard events.count >= EventJournal.capacity else { return }
            var counts: [String: Int] = [:]
            for event in events { counts[event.name, default: 0] += 1 }
            let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let place = most.flatMap { most in
                most.value > EventJournal.share ? events.firstIndex { $0.name == most.key } : nil
            }
            events.remove(at: place ?? 0)
        }
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
    package func append(
        time: String, level: String, name: String, message: String, fields: [JSONValue.Member]
    ) {
        func line(_ members: [JSONValue.Member]) -> [UInt8] {
            JSONValue.object([
                .init("time", .string(time)), .init("level", .string(level)), .init("event", .string(name)),
                .init("message", .string(message)), .init("fields", .object(members)),
            ]).serialized()
        }
        var json = line(fields)
        // Fields that are too long for all watchers are in the log.
        if json.count > Self.maxEventBytes { json = line([.init("too_long", .bool(true))]) }
        state.withLock { state in
            state.lastID += 1
            state.makeRoom()
            state.events.append(Event(id: state.lastID, name: name, json: json))
        }
    }

    /// Those after `id`, the oldest first. An id that was never given, because the daemon has been started anew since,
    /// counts as none.
    package func events(after id: UInt64) -> [Event] {
        state.withLock { state in
            let after = id > state.lastID ? 0 : id
            guard after < state.lastID else { return [] }
            return state.events.filter { $0.id > after }
        }
    }
}
