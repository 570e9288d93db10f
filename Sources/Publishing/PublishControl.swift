internal import CRTMPSocket
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// What one destination may still wait for: every wait of its thread ends at its own deadline, at this limit, or when
/// the limit is lowered from another thread.
@safe final class PublishControl: @unchecked Sendable /* the C functions are made for any thread */ {
    enum Readiness { case ready, timeout, cancelled }

    let raw: OpaquePointer

    init() throws(Errno) {
        guard let raw = unsafe upcast_control_create() else { throw Errno.current }
        unsafe self.raw = raw
    }

    deinit { unsafe upcast_control_destroy(raw) }

    /// From now on nothing waits beyond `time`; a limit can only be lowered.
    func limit(to time: MediaTime) { unsafe upcast_control_limit(raw, time.nanoseconds) }

    /// Nothing waits any more.
    func cancel() { limit(to: .zero) }

    /// Whether the limit has passed.
    var isOver: Bool { unsafe upcast_control_is_over(raw) != 0 }

    /// Waits for `events` (of `poll`) on `descriptor`.
    func wait(for events: Int32, on descriptor: CInt, until deadline: MediaTime) -> Readiness {
        switch unsafe upcast_control_wait(raw, descriptor, CShort(events), deadline.nanoseconds) {
        case UPCAST_WAIT_READY: .ready
        case UPCAST_WAIT_TIMEOUT: .timeout
        default: .cancelled
        }
    }

    enum FirstReady {
        /// Positions of those that are.
        case ready([Int])
        case timeout
        case cancelled
    }

    /// Waits for `events` (of `poll`) on one of up to eight descriptors; with none, for the deadline only.
    func wait(for events: Int32, onAnyOf descriptors: [CInt], until deadline: MediaTime) -> FirstReady {
        precondition(descriptors.count <= Int(UPCAST_WAIT_MAXIMUM))
        var ready: CUnsignedInt = 0
        let result = unsafe upcast_control_wait_any(
            raw, descriptors, CInt(descriptors.count), CShort(events), deadline.nanoseconds, &ready)
        return switch result {
        case UPCAST_WAIT_READY: .ready(descriptors.indices.filter { ready & 1 << $0 != 0 })
        case UPCAST_WAIT_TIMEOUT: .timeout
        default: .cancelled
        }
    }
}
