internal import Glibc
internal import IngestProtocol
internal import LinuxSystem

/// Sends messages, one at a time: header and body from its own buffer, the payload from the caller's memory.
///
/// Any thread may send; a lock keeps messages whole, so a thread waits while another one's message is written.
final class MessageSender: Sendable {
    private struct State {
        var session = SessionState()
        var head: [UInt8] = []
        /// Why nothing can be sent any more: a message was cut off in the middle.
        var failure: CaptureError?
    }

    private let socket: CInt
    private let state = Monitor(State())

    /// - Parameter socket: blocking, with a send timeout; open for as long as this object lives.
    init(socket: CInt) { self.socket = socket }

    /// Checks that the message may come now. Then writes what `encode` appends to an empty buffer for the message's
    /// sequence number, and then `pieces`.
    ///
    /// - Parameter memory: goes along with the message's first byte.
    /// - Returns: the message's sequence number.
    @discardableResult
    func send(
        _ type: MessageType, payload pieces: PayloadPieces = PayloadPieces(), with memory: OfferedMemory? = nil,
        encode: (UInt32, inout [UInt8]) -> Void
    ) throws(CaptureError) -> UInt32 {
        try state.withLock { state throws(CaptureError) in
            if let failure = state.failure { throw failure }
            do throws(ProtocolError) {
                _ = try state.session.admit(
                    MessageHeader(type: type, bodyBytes: 0, sequence: state.session.nextSequence))
            } catch {
                throw CaptureError(error)
            }
            if type == .resumed { state.session.resume() }
            let sequence = state.session.nextSequence &- 1
            state.head.removeAll(keepingCapacity: true)
            encode(sequence, &state.head)
            do throws(CaptureError) {
                try write(state.head, pieces, memory)
            } catch {
                state.failure = error
                throw error
            }
            return sequence
        }
    }

    private func write(
        _ head: [UInt8], _ pieces: PayloadPieces, _ memory: OfferedMemory?
    ) throws(CaptureError) {
        let failed = unsafe head.withUnsafeBytes { head -> Errno? in
            var head = unsafe head
            if let memory {
                do throws(Errno) {
                    let count = try unsafe memory.send(with: head, to: socket)
                    unsafe head = UnsafeRawBufferPointer(rebasing: head[count...])
                } catch {
                    return error
                }
            }
            return unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 4) { vectors -> Errno? in
                var count = 0
                for index in 0..<4 {
                    let source = unsafe index == 0 ? head : pieces[index - 1]
                    if unsafe source.isEmpty { continue }
                    unsafe vectors[count] = iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: source.baseAddress), iov_len: source.count)
                    count += 1
                }
                return unsafe writeAll(vectors, count)
            }
        }
        guard let failed else { return }
        if failed.code == EAGAIN {
            throw CaptureError(.timedOut, "the daemon does not read: a message was cut off, the connection is lost")
        }
        throw CaptureError(.disconnected, "cannot send to the daemon: \(failed)")
    }

    /// Writes until nothing is left; the kernel may take any part of it at a time.
    private func writeAll(_ vectors: UnsafeMutableBufferPointer<iovec>, _ count: Int) -> Errno? {
        var (first, count) = (0, count)
        while count > 0 {
            var message = unsafe msghdr()
            unsafe message.msg_iov = vectors.baseAddress! + first
            unsafe message.msg_iovlen = count
            var written = unsafe sendmsg(socket, &message, CInt(MSG_NOSIGNAL))
            guard written >= 0 else {
                if errno == EINTR { continue }
                return Errno.current
            }
            while count > 0, unsafe written >= vectors[first].iov_len {
                unsafe written -= vectors[first].iov_len
                first += 1
                count -= 1
            }
            if written > 0 {
                unsafe vectors[first].iov_base += written
                unsafe vectors[first].iov_len -= written
            }
        }
        return nil
    }
}

/// Up to three pieces of borrowed memory that make a payload; valid during the call that they are given to.
@safe struct PayloadPieces {
    var first = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    var second = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    var third = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

    var byteCount: Int { unsafe first.count + second.count + third.count }

    /// Whether a range of the payload has the same bytes as that range of another payload, which is contiguous.
    func isEqual(to other: UnsafeRawPointer, _ range: Range<Int>) -> Bool {
        var start = 0
        for index in 0..<3 {
            let piece = unsafe self[index]
            let part = range.clamped(to: start..<start + piece.count)
            if !part.isEmpty,
                unsafe memcmp(other + part.lowerBound, piece.baseAddress! + (part.lowerBound - start), part.count) != 0
            {
                return false
            }
            start += piece.count
        }
        return true
    }

    subscript(index: Int) -> UnsafeRawBufferPointer {
        get { unsafe index == 0 ? first : index == 1 ? second : third }
        set {
            switch index {
            case 0: unsafe first = newValue
            case 1: unsafe second = newValue
            default: unsafe third = newValue
            }
        }
    }
}
