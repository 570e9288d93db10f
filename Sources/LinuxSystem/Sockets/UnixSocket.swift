internal import CLinux
package import Glibc
package import MediaCore

/// Stream sockets in the file system: listen, connect, and identify the peer.
package enum UnixSocket {
    /// The longest path that fits `sockaddr_un` with its terminating zero.
    package static let maxPathBytes = 107

    package enum Failure: Error, CustomStringConvertible {
        case pathTooLong(String)
        /// Another process listens at the path.
        case inUse(String)
        /// The path exists and is not a socket. The file is not changed.
        case notASocket(String)
        case system(String, Errno)

        package var description: String {
            switch self {
            case .pathTooLong(let path):
                "socket path \(path) has \(path.utf8.count) bytes; Linux allows \(UnixSocket.maxPathBytes)"
            case .inUse(let path): "another process is listening at \(path); stop it or choose another path"
            case .notASocket(let path): "\(path) exists and is not a socket; it was left alone, choose another path"
            case .system(let what, let error): "\(what): \(error)"
            }
        }
    }

    /// Returns a non-blocking listening socket at `path`. Replaces a socket file without a listener.
    package static func listen(path: String, mode: mode_t, backlog: CInt = 8) throws(Failure) -> OwnedDescriptor {
        let address = try address(path)
        let fd = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard fd >= 0 else { throw .system("cannot create a socket", Errno.current) }
        let descriptor = OwnedDescriptor(fd)
        try removeStale(path)
        guard unsafe address.withSocketAddress({ unsafe bind(fd, $0, $1) }) == 0 else {
            let error = Errno.current
            let hint =
                switch error.code {
                case ENOENT: " (its folder must exist)"
                case EACCES, EROFS: " (this user must be able to write to its folder; or choose another path)"
                default: ""
                }
            throw .system("cannot bind \(path)\(hint)", error)
        }
        // This is in time, because nobody can connect before `listen`. (The umask would affect the whole process: files
        // of other threads, and children.)
        guard unsafe chmod(path, mode) == 0 else { throw .system("cannot set the mode of \(path)", Errno.current) }
        guard Glibc.listen(fd, backlog) == 0 else { throw .system("cannot listen at \(path)", Errno.current) }
        return descriptor
    }

    /// Returns a blocking, connected socket.
    ///
    /// - Parameter timeout: the longest wait for room in the listener's backlog, then EAGAIN. It also limits each
    ///   blocking send on the socket. Nil for no limit.
    package static func connect(path: String, timeout: MediaTime? = nil) throws(Failure) -> OwnedDescriptor {
        let address = try address(path)
        let fd = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw .system("cannot create a socket", Errno.current) }
        let descriptor = OwnedDescriptor(fd)
        if let timeout {
            // Zero would mean no limit.
            let nanoseconds = max(1_000_000, timeout.nanoseconds)
            var limit = timeval(
                tv_sec: Int(nanoseconds / 1_000_000_000), tv_usec: Int(nanoseconds % 1_000_000_000 / 1000))
            unsafe setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard unsafe address.withSocketAddress({ unsafe Glibc.connect(fd, $0, $1) }) == 0 else {
            throw .system("cannot connect to \(path)", Errno.current)
        }
        return descriptor
    }

    /// Returns the next waiting connection, non-blocking; nil for none.
    package static func accept(_ listener: borrowing OwnedDescriptor) throws(Errno) -> OwnedDescriptor? {
        let fd = upcast_accept4(listener.raw)
        if fd >= 0 { return OwnedDescriptor(fd) }
        let error = Errno.current
        switch error.code {
        // The connection closed before accept, which is not an error of the listener.
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw error
        }
    }

    /// Sends bytes over a connected socket, with a descriptor attached to the first one. Returns the number of bytes
    /// sent.
    package static func send(
        _ bytes: UnsafeRawBufferPointer, with descriptor: CInt, to socket: CInt
    ) throws(Errno) -> Int {
        while true {
            let count = unsafe upcast_send_with_descriptor(socket, bytes.baseAddress, UInt(bytes.count), descriptor)
            if count > 0 { return count }
            guard errno == EINTR else { throw Errno.current }
        }
    }

    /// Keeps peers from passing descriptors to sockets that `listener` accepts: their sends get EPERM. Returns false
    /// before Linux 6.16.
    @discardableResult package static func refuseDescriptors(_ listener: borrowing OwnedDescriptor) -> Bool {
        upcast_refuse_descriptors(listener.raw) == 0
    }

    private static func removeStale(_ path: String) throws(Failure) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
        do {
            _ = try connect(path: path)
        } catch {
            guard case .system(_, let errno) = error, errno.code == ECONNREFUSED else {
                guard case .system(_, let errno) = error, errno.code == EACCES else { throw error }
                throw .system(
                    "\(path) is another user's socket; end that daemon and remove the file, or choose another path",
                    errno)
            }
            unsafe unlink(path)
            return
        }
        throw .inUse(path)
    }

    private static func address(_ path: String) throws(Failure) -> UnixAddress {
        guard let address = UnixAddress(path: path) else { throw .pathTooLong(path) }
        return address
    }
}

/// The peer of a Unix socket, from the kernel (SO_PEERCRED).
package struct PeerCredentials: Equatable, Sendable {
    package let processID: pid_t
    /// Nil if the user has no number in this user namespace. The kernel reports the same number for all such users.
    package let userID: uid_t?
    /// Nil if the group is outside this user namespace.
    package let groupID: gid_t?
    /// Further groups with a number in this namespace, at the time of the connection (SO_PEERGROUPS).
    package let otherGroups: [gid_t]

    /// - Parameters: as the kernel reports them.
    package init(processID: pid_t, userID: uid_t, groupID: gid_t, otherGroups: [gid_t] = []) {
        self.processID = processID
        self.userID = userID == UserNamespace.overflowUser ? nil : userID
        self.groupID = groupID == UserNamespace.overflowGroup ? nil : groupID
        self.otherGroups = otherGroups.filter { $0 != UserNamespace.overflowGroup }
    }

    /// - Parameter withGroups: false if `otherGroups` is not needed.
    package init?(socket: CInt, withGroups: Bool = true) {
        var (pid, uid, gid) = (pid_t(0), uid_t(0), gid_t(0))
        guard unsafe upcast_peer_credentials(socket, &pid, &uid, &gid) == 0 else { return nil }
        guard withGroups else {
            self.init(processID: pid, userID: uid, groupID: gid)
            return
        }
        // Linux allows 65,536. A peer with more groups than fit here gets none.
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = unsafe upcast_peer_groups(socket, &groups, CInt(groups.count))
        self.init(
            processID: pid, userID: uid, groupID: gid, otherGroups: Array(groups.prefix(max(0, Int(count)))))
    }
}
