internal import CLinux

extension OwnedDescriptor {
    /// An empty file that has no name in any folder and goes with its last descriptor (memfd_create).
    ///
    /// - Parameter name: for /proc/PID/fd.
    package static func memoryFile(name: String) throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor(checking: unsafe upcast_memfd_create(name))
    }
}
