internal import CLinux

/// Opens a file with an untrusted name only if it is beneath a given folder (openat2(2)).
package enum FileBeneath {
    /// Opens a file for reading, without waiting for a writer. Follows links that stay beneath `folder`, because
    /// Kubernetes mounts secrets as links to a neighbouring folder.
    ///
    /// - Parameter name: a relative path; a path that leaves the folder fails with EXDEV.
    package static func open(_ name: String, beneath folder: String) throws(Errno) -> OwnedDescriptor {
        let file = unsafe upcast_open_beneath(folder, name)
        guard file >= 0 else { throw Errno.current }
        return OwnedDescriptor(file)
    }
}
