internal import LinuxSystem
internal import MediaCore

/// Reads a pipe ahead, so that its writer does not wait: a program that grabs a screen misses frames while it waits.
///
/// Its own thread reads from `init` until `capacity` bytes wait. Then the writer waits, as it should if it decodes a
/// file. One other thread may take the bytes.
@safe package final class ReadAhead: ByteInput, @unchecked Sendable /* each byte belongs to one side at a time */ {
    private struct State {
        /// Where in the ring the waiting bytes begin.
        var first = 0
        var count = 0
        var hasEnded = false
        var isClosed = false
        var failure: InputError?
        var arrivals = Arrivals()
        var waiting = WaitingArrivals()
    }

    private let input: FileInput
    /// Pages become resident at their first use, so that a writer that is never far ahead uses few.
    private let ring: UnsafeMutableRawBufferPointer
    private let capacity: Int
    private let state = Monitor(State())
    private let thread = Monitor<WorkerThread?>(nil)
    /// The most bytes of one read: the capacity of a pipe.
    private static let most = 65_536

    /// - Parameter capacity: in bytes.
    package init(_ input: FileInput, capacity: Int) throws(InputError) {
        self.input = input
        self.capacity = capacity
        unsafe ring = .allocate(byteCount: capacity, alignment: 4096)
        do {
            let worker = try WorkerThread(name: "send-ahead") { [self] in run() }
            thread.withLock { $0 = worker }
        } catch {
            throw InputError("cannot start a thread to read ahead: \(error)")
        }
    }

    deinit { unsafe ring.deallocate() }

    /// Ends the thread. Call `StopSignal.stop` first, and call this method once.
    package func close() {
        state.signal { $0.isClosed = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let (first, count) = state.wait { $0.count > 0 || $0.hasEnded ? ($0.first, $0.count) : nil } ?? (0, 0)
        if count == 0, let failure = state.withLock({ $0.failure }) { throw failure }
        let taken = min(count, buffer.count, capacity - first)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: ring[first..<(first + taken)]))
        state.signal {
            $0.first = ($0.first + taken) % capacity
            $0.count -= taken
            $0.waiting.take(taken)
        }
        return taken
    }

    package func rewind() -> Bool { false }

    /// The arrival times of the bytes so far.
    var arrivals: Arrivals { state.withLock { $0.arrivals } }

    /// When the last byte that was taken arrived.
    var lastTaken: MediaTime? { state.withLock { $0.waiting.lastTaken } }

    // MARK: The thread

    private func run() {
        defer {
            state.signal {
                $0.hasEnded = true
                $0.arrivals.noteAhead()
            }
        }
        let clock = MonotonicClock()
        while let room = roomToFill() {
            var got = 0
            var failure: InputError?
            do throws(InputError) {
                got = try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: ring[room]))
            } catch {
                failure = error
            }
            let now = clock.now()
            state.signal {
                $0.count += got
                $0.failure = failure
                if got > 0 {
                    $0.arrivals.note(got, at: now)
                    $0.waiting.note(got, at: now)
                }
                if $0.count == capacity { $0.arrivals.noteAhead() }
            }
            if got == 0 { return }
        }
    }

    /// Waits for space after the waiting bytes; nil once closed.
    private func roomToFill() -> Range<Int>? {
        let room: Range<Int>? = state.wait { state -> Range<Int>?? in
            if state.isClosed { return .some(nil) }
            guard state.count < capacity else { return nil }
            // Restart at the beginning when the ring is empty, so that unused pages stay unused.
            if state.count == 0 { state.first = 0 }
            let from = (state.first + state.count) % capacity
            let end = from < state.first ? state.first : capacity
            return .some(from..<min(end, from + Self.most))
        } ?? nil
        return room
    }
}
