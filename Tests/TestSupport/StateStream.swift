import Foundation
import Glibc
import LinuxSystem
package import MediaCore

/// An open `GET /state/events`, read by its own thread: every event in order, and when it came.
package final class StateStream: Sendable {
    package struct Event: Sendable {
        package let isCaptured: Bool
        package let capture: Int
        package let waitingFor: [String]
        package let isPersisted: Bool?
        package let at: MediaTime
    }

    private struct State {
        var events: [Event] = []
        var head = ""
        var isOver = false
    }

    private let connection: OwnedDescriptor
    private let state = Monitor(State())

    /// - Parameter onEvent: called on the reading thread, for each event.
    package init(
        _ query: String = "", socket: String, onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws {
        connection = try UnixSocket.connect(path: socket)
        let request = Array("GET /state/events\(query) HTTP/1.1\r\nHost: upcast\r\n\r\n".utf8)
        _ = send(connection.raw, request, request.count, CInt(MSG_NOSIGNAL))
        let (descriptor, state) = (dup(connection.raw), state)
        Thread.detachNewThread {
            let owned = OwnedDescriptor(descriptor)
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = recv(owned.raw, &buffer, buffer.count, 0)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                let now = MonotonicClock().now()
                text += String(decoding: buffer[0..<count], as: UTF8.self)
                state.signal { if $0.head.isEmpty { $0.head = text } }
                // The data of an event is one line. Chunks contain whole events, but the code also handles events that
                // are cut.
                while let end = text.firstRange(of: "\n") {
                    let line = text[..<end.lowerBound]
                    text = String(text[end.upperBound...])
                    guard line.hasPrefix("data: "), let event = Self.event(line.dropFirst(6), now) else { continue }
                    state.signal { $0.events.append(event) }
                    onEvent(event)
                }
            }
            state.signal { $0.isOver = true }
        }
    }

    deinit { shutdown(connection.raw, CInt(SHUT_RDWR)) }

    /// Closes the connection, as a process that ends does.
    package func close() { shutdown(connection.raw, CInt(SHUT_RDWR)) }

    package var events: [Event] { state.withLock { $0.events } }
    /// The first bytes of the answer.
    package var head: String { state.withLock { $0.head } }

    private static func event(_ json: Substring, _ now: MediaTime) -> Event? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
            let isCaptured = object["captured"] as? Bool
        else { return nil }
        return Event(
            isCaptured: isCaptured, capture: object["capture"] as? Int ?? 0,
            waitingFor: object["waiting_for"] as? [String] ?? [], isPersisted: object["persisted"] as? Bool, at: now)
    }

    /// Waits until there are `count` events. Returns the last of them.
    @discardableResult
    package func wait(for count: Int, within seconds: Double = 15) throws -> Event {
        let found = state.wait(until: Patience.deadline(seconds)) { state in
            state.events.count >= count ? state.events[count - 1] : state.isOver ? Optional<Event>.none : nil
        }
        guard let found else { throw TestFailure("not \(count) events but \(events.count): \(head.prefix(300))") }
        return found
    }
}
