package import ControlProtocol
internal import LinuxSystem

/// The recent events of the daemon, for watchers: all `DaemonEvent`s of level `info` and above.
///
/// Any thread. Holds `capacity` events of at most `maxEventBytes` bytes. A new event replaces the oldest one. If one
/// name has more than `share` of the events, the new event replaces the oldest of that name instead, so that frequent
/// events do not displace rare ones.
package final class EventJournal: Sendable {
    package struct Event: Equatable, Sendable {
        /// Increases by one with each event of the daemon.
        package var id: UInt64
        /// The name from `DaemonEvent.Name`, such as `destination_live`.
        package var name: String
        /// One line of JSON.
        package var json: [UInt8]
    }

    package static let capacity = 256
    static let share = capacity / 8
    package static let maxEventBytes = 2048

    private struct State {
        /// Oldest first.
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

    /// - Parameter id: the number before that of the first event. It must rise with each start of the daemon. Otherwise
    ///   a watcher would take new events for events that it has already seen from the previous daemon.
    package init(after id: UInt64 = 0) {
        var state = State()
        state.lastID = id
        self.state = Monitor(state)
    }

    /// The memory of a full journal in bytes, at the usual length of an event.
    package static let memoryBytes = capacity * 512

    /// Adds an event, without its fields if they are too long.
    ///
    /// - Returns: the event's id.
    @discardableResult
    package func append(_ event: EventRecord) -> UInt64 {
        var json = event.json.serialized()
        if json.count > Self.maxEventBytes { json = event.withoutFields.json.serialized() }
        return state.withLock { state in
            state.lastID += 1
            state.makeRoom()
            state.events.append(Event(id: state.lastID, name: event.name, json: json))
            return state.lastID
        }
    }

    /// The events after `id`, oldest first. An unknown id, of an earlier daemon, counts as 0.
    package func events(after id: UInt64) -> [Event] {
        state.withLock { state in
            let after = id > state.lastID ? 0 : id
            guard after < state.lastID else { return [] }
            return state.events.filter { $0.id > after }
        }
    }
}
