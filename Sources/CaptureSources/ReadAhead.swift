internal import LinuxSystem

/// A pipe that is read before its bytes are wanted, so that its writer need not wait: a program that grabs a screen
/// would grab nothing meanwhile, and never make up for it.
///
/// A thread of its own reads from the moment this is made, until `capacity` bytes wait; then the writer waits after
/// all, as one that decodes a file should. One other thread may take the bytes.
@safe package final class ReadAhead: ByteInput, @unchecked Sendable /* each byte belongs to one side at a time */ {
    private struct State {
        /// Bytes that wait begin here.
        var first = 0
        var count = 0
        var hasEnded = false
        var isClosed = false
        var failure: InputError?
    }

    private let input: FileInput
    /// Pages become resident as they are used; a writer that is never far ahead uses few of them.
    private let ring: UnsafeMutableRawBufferPointer
    private let capacity: Int
    private let state = Monitor(State())
    private let thread = Monitor<WorkerThread?>(nil)
    /// As much as a pipe holds.
    private static let most = 65_536

    /// - Parameter capacity: bytes.
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

    /// Ends the thread, which `StopSignal` must have been told of before; to be called once.
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
        }
        return taken
    }

    package func rewind() -> Bool { false }

    // MARK: The thread

    private func run() {
        defer { state.signal { $0.hasEnded = true } }
        while let room = roomToFill() {
            var got = 0
            var failure: InputError?
            do throws(InputError) {
                got = try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: ring[room]))
            } catch {
                failure = error
            }
            state.signal {
                $0.count += got
                $0.failure = failure
            }
            if got == 0 { return }
        }
    }

    /// Waits for room behind the bytes that wait; nil once closed.
    private func roomToFill() -> Range<Int>? {
        let room: Range<Int>? = state.wait { state -> Range<Int>?? in
            if state.isClosed { return .some(nil) }
            guard state.count < capacity else { return nil }
            // From the beginning again when nothing waits: memory that was never used stays unused.
            if state.count == 0 { state.first = 0 }
            let from = (state.first + state.count) % capacity
            let end = from < state.first ? state.first : capacity
            return .some(from..<min(end, from + Self.most))
        } ?? nil
        return room
    }
}
