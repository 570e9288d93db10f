internal import CRTMPSocket
internal import Glibc
package import LinuxSystem
package import MediaCore

/// Bounds all waits of a thread that publishes or delivers. A wait ends at its own deadline, or at this limit, which
/// any thread can lower during the wait.
@safe package final class PublishControl: @unchecked Sendable /* the C functions are made for any thread */ {
    enum Readiness { case ready, timeout, cancelled }

    let raw: OpaquePointer
    private let clock: any TimeSource

    /// - Parameter clock: the clock of all deadlines.
    package init(clock: any TimeSource) throws(Errno) {
        guard let raw = unsafe upcast_control_create() else { throw Errno.current }
        unsafe self.raw = raw
        self.clock = clock
    }

    deinit { unsafe upcast_control_destroy(raw) }

    /// Lowers the limit; a later `time` has no effect.
    package func limit(to time: MediaTime) { unsafe upcast_control_limit(raw, kernelDeadline(time)) }

    /// Ends all waits.
    package func cancel() { unsafe upcast_control_limit(raw, 0) }

    var isOver: Bool { unsafe upcast_control_is_over(raw) != 0 }

    /// In nanoseconds, for the C functions.
    func kernelDeadline(_ deadline: MediaTime) -> Int64 { clock.kernelDeadline(deadline).nanoseconds }

    /// Waits for `events` (poll flags) on `descriptor`.
    func wait(for events: Int32, on descriptor: CInt, until deadline: MediaTime) -> Readiness {
        switch unsafe upcast_control_wait(raw, descriptor, CShort(events), kernelDeadline(deadline)) {
        case UPCAST_WAIT_READY: .ready
        case UPCAST_WAIT_TIMEOUT: .timeout
        default: .cancelled
        }
    }

    enum FirstReady {
        /// Indices of the ready descriptors.
        case ready([Int])
        case timeout
        case cancelled
    }

    /// Waits for `events` (poll flags) on any of at most eight descriptors; with none, waits for the deadline only.
    func wait(for events: Int32, onAnyOf descriptors: [CInt], until deadline: MediaTime) -> FirstReady {
        precondition(descriptors.count <= Int(UPCAST_WAIT_MAXIMUM))
        var ready: CUnsignedInt = 0
        let result = unsafe upcast_control_wait_any(
            raw, descriptors, CInt(descriptors.count), CShort(events), kernelDeadline(deadline), &ready)
        return switch result {
        case UPCAST_WAIT_READY: .ready(descriptors.indices.filter { ready & 1 << $0 != 0 })
        case UPCAST_WAIT_TIMEOUT: .timeout
        default: .cancelled
        }
    }
}
