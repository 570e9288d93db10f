internal import CLinux

extension OwnedDescriptor {
    /// Creates an empty file without a path, which the kernel frees with its last descriptor (memfd_create).
    ///
    /// - Parameter name: the name in /proc/PID/fd.
    package static func memoryFile(name: String) throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor(checking: unsafe upcast_memfd_create(name))
    }
}
