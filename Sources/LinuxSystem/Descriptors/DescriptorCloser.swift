internal import Glibc
package import MediaCore

/// Closes descriptors from other processes on separate threads, because `close` can block. Any thread.
///
/// Other processes can make `close` wait without limit: a TCP socket with SO_LINGER waits for its peer, and a file on a
/// FUSE mount for its server. The close of a Unix socket can wait, too, if it holds such descriptors that were not
/// received.
package final class DescriptorCloser: Sendable {
    package static let maxThreads = 8
    /// The number of descriptors that may wait for a thread. A message can exceed it for a moment: it brings up to 253.
    package static let capacity = 256
    /// A thread without work ends after this.
    private static let idleTime = MediaTime.seconds(1)

    private struct State {
        var waiting: [CInt] = []
        var threads = 0
        /// Threads without work.
        var idle = 0
    }

    private let state = Monitor(State())
    private let closeOne: @Sendable (CInt) -> Void

    /// - Parameter close: closes a descriptor; may block. Tests inject one that hangs.
    package init(close: @escaping @Sendable (CInt) -> Void = DescriptorCloser.closeWithoutLinger) { closeOne = close }

    /// Whether another connection can be accepted, which must be closed later.
    package var hasRoom: Bool { state.withLock { $0.waiting.count < Self.capacity } }

    /// Waits at most `patience` for room.
    package func waitForRoom(_ patience: MediaTime) -> Bool {
        if hasRoom { return true }
        return state.wait(until: MonotonicClock().now() + patience) {
            $0.waiting.count < Self.capacity ? true : nil
        } ?? false
    }

    /// Takes over `raw` and closes it later. Returns at once.
    package func close(_ raw: CInt) {
        let needsThread = state.signal { state in
            state.waiting.append(raw)
            guard state.waiting.count > state.idle, state.threads < Self.maxThreads else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        do {
            try WorkerThread(name: "up-discard", stackBytes: 64 * 1024) { [state, closeOne] in
                while let raw = Self.next(state) { closeOne(raw) }
            }.abandon()
        } catch {
            // The next call tries again.
            state.withLock { $0.threads -= 1 }
        }
    }

    /// The next descriptor to close; nil if the thread must end.
    private static func next(_ state: Monitor<State>) -> CInt? {
        let (first, wasFull) = state.withLock { state -> (CInt?, Bool) in
            let wasFull = state.waiting.count >= capacity
            if let raw = state.waiting.popLast() { return (raw, wasFull) }
            state.idle += 1
            return (nil, false)
        }
        if wasFull { state.signal { _ in } }
        if let first { return first }
        let found = state.wait(until: MonotonicClock().now() + idleTime) { state -> CInt? in
            guard let raw = state.waiting.popLast() else { return nil }
            state.idle -= 1
            return raw
        }
        if let found { return found }
        return state.withLock { state in
            state.idle -= 1
            // A descriptor that came meanwhile relies on this thread.
            if let raw = state.waiting.popLast() { return raw }
            state.threads -= 1
            return nil
        }
    }

    /// Clears SO_LINGER, which the sender of a socket may have set.
    package static func closeWithoutLinger(_ raw: CInt) {
        var off = linger(l_onoff: 0, l_linger: 0)
        _ = unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
        _ = Glibc.close(raw)
    }
}

/// Owns a descriptor that another process controls; a `DescriptorCloser` closes it.
package struct ForeignDescriptor: ~Copyable, Sendable {
    package let raw: CInt
    private let isConnection: Bool
    private let closer: DescriptorCloser

    /// Takes over `raw`, which came from another process.
    package init(_ raw: CInt, _ closer: DescriptorCloser) {
        (self.raw, isConnection, self.closer) = (raw, false, closer)
    }

    /// Takes over a connection. Its peer sees the end at once, even if the descriptor is closed later.
    package init(connection: consuming OwnedDescriptor, _ closer: DescriptorCloser) {
        (raw, isConnection, self.closer) = (connection.relinquish(), true, closer)
    }

    deinit {
        if isConnection { shutdown(raw, CInt(SHUT_RDWR)) }
        closer.close(raw)
    }
}
