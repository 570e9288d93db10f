internal import Glibc
package import MediaCore

/// Closes descriptors from other processes on separate threads, because `close` can block. Any thread.
///
/// `close` can wait for as long as such a process likes: a TCP socket with SO_LINGER waits for its peer, a file on a
/// FUSE mount for its server. So can the close of a Unix socket in which descriptors lie that nobody has received.
package final class DescriptorCloser: Sendable {
    package static let maxThreads = 8
    /// Descriptors that may wait for a thread. There can be more for a moment: a message brings up to 253.
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

    /// Whether another connection can be accepted; it must be closed later.
    package var hasRoom: Bool { state.withLock { $0.waiting.count < Self.capacity } }

    /// Waits for room for at most `patience`.
    package func waitForRoom(_ patience: MediaTime) -> Bool {
        if hasRoom { return true }
        return state.wait(until: MonotonicClock().now() + patience) {
            $0.waiting.count < Self.capacity ? true : nil
        } ?? false
    }

    /// Closes `raw`, which is not the caller's any more. Returns at once.
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
            // Whoever brought it counted on this thread.
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

/// Owner of a descriptor that another process decides about; a `DescriptorCloser` closes it.
package struct ForeignDescriptor: ~Copyable, Sendable {
    package let raw: CInt
    private let isConnection: Bool
    private let closer: DescriptorCloser

    /// Takes over `raw`, which has come from another process.
    package init(_ raw: CInt, _ closer: DescriptorCloser) {
        (self.raw, isConnection, self.closer) = (raw, false, closer)
    }

    /// Takes over a connection, whose peer sees its end at once, whenever the descriptor is closed.
    package init(connection: consuming OwnedDescriptor, _ closer: DescriptorCloser) {
        (raw, isConnection, self.closer) = (connection.relinquish(), true, closer)
    }

    deinit {
        if isConnection { shutdown(raw, CInt(SHUT_RDWR)) }
        closer.close(raw)
    }
}
