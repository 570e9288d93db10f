internal import Glibc

/// Why connecting to a Unix socket failed, for messages that name the cause and the remedy.
package enum SocketRefusal: Equatable {
    /// There is nothing at the path.
    case missing
    /// The file is there, and no process has it open.
    case nobodyListens
    /// The path is that of something other than a socket.
    case notASocket
    /// The permissions of the socket or of a folder above it. The text names their owner, and a remedy.
    case forbidden(String)
    /// The listener accepted nothing in time.
    case full
    case other

    package init(_ failure: UnixSocket.Failure, path: String) {
        guard case .system(_, let error) = failure else {
            self = .other
            return
        }
        switch error.code {
        case ENOENT: self = .missing
        // Linux reports the same for a file that is not a socket.
        case ECONNREFUSED: self = Self.isSocket(path) ? .nobodyListens : .notASocket
        case ENOTDIR: self = .notASocket
        case EACCES, EPERM: self = .forbidden(SocketAccess(path).remedy)
        case EAGAIN: self = .full
        default: self = .other
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// The file that keeps a process from a socket: the socket itself, or a folder above it.
package struct SocketAccess: Equatable {
    package var path: String
    package var isFolder = false
    /// Nil if owner, group and mode are unknown.
    package var owner: UInt32?
    package var group: UInt32 = 0
    package var mode: UInt32 = 0

    package init(path: String, isFolder: Bool, owner: UInt32?, group: UInt32, mode: UInt32) {
        (self.path, self.isFolder, self.owner, self.group, self.mode) = (path, isFolder, owner, group, mode)
    }

    /// Finds the first folder that this process may not enter; without one, it is the socket.
    init(_ socket: String) {
        path = socket
        var end = socket.startIndex
        while let slash = socket[end...].dropFirst().firstIndex(of: "/") {
            end = slash
            let folder = String(socket[..<slash])
            if unsafe faccessat(AT_FDCWD, folder, X_OK, AT_EACCESS) != 0, Errno.current.code == EACCES {
                (path, isFolder) = (folder, true)
                break
            }
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o777)
    }

    /// The owner of the file, and what the user can do.
    var remedy: String { remedy(AccountNames.name(user:), AccountNames.name(group:)) { isMember } }

    /// The same with other databases, for tests.
    package func remedy(
        _ userName: (UInt32) -> String, _ groupName: (UInt32) -> String, isMember: () -> Bool
    ) -> String {
        guard let owner else { return "its folder cannot be searched; run the command as root" }
        let what = isFolder ? "the folder \(path)" : "the socket"
        // A folder is entered (x), a socket is written to (w).
        let isForGroup = mode & (isFolder ? 0o010 : 0o020) != 0 && group != 0
        guard isForGroup else {
            return "only \(userName(owner)) can use \(what); "
                + (owner == 0 ? "run the command with sudo" : "run the command as that user")
        }
        let name = groupName(group)
        guard !isMember() else {
            return "\(what) is for the group \(name), which you have joined since this login; log in again"
        }
        return "\(what) is for the group \(name); join it with \"sudo usermod -aG \(name) $USER\", then log in again"
    }

    private var isMember: Bool { AccountNames.isUser(geteuid(), in: group) }
}
