internal import Glibc
internal import LinuxSystem

/// A file beside the state file that one daemon at a time locks. The file stays when the daemon ends; the lock does
/// not.
final class StateFileLock: Sendable {
    private let file: OwnedDescriptor

    /// - Throws: a sentence if another process has locked it, or if it cannot be locked.
    init(path: String) throws(StateFileFailure) {
        // Not readable for other users, because opening the file is enough to lock it.
        let raw = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard raw >= 0 else { throw StateFileFailure("privacy.state_file: cannot open", path, Errno.current) }
        file = OwnedDescriptor(raw)
        while flock(raw, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                throw StateFileFailure(
                    sentence: "privacy.state_file: another process has locked \(path), probably a second upcastd; "
                        + "each daemon needs a state file of its own")
            // Without support for locks in the file system, the record is still kept.
            default: return
            }
        }
    }

    /// Unlocks before the file is closed, because a process forked meanwhile keeps a descriptor until its `exec`.
    deinit { flock(file.raw, LOCK_UN) }
}
