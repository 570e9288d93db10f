internal import Glibc

/// Listening sockets from the service manager (LISTEN_FDS, sd_listen_fds(3)). Clients that connect before the daemon
/// runs wait until it accepts them.
///
/// The manager owns their files: we do not remove them, and their permissions are the manager's. Construct this once,
/// while the process has one thread. `deinit` closes the sockets that were not taken.
package struct PassedSockets: ~Copyable {
    /// Why a passed socket cannot be used, as a sentence.
    package struct Unusable: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private static let variables = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]

    private var members: [String: CInt] = [:]

    /// No sockets were passed.
    package init() {}

    /// Takes over the sockets that were passed to this process, and removes the variables from its environment, so that
    /// no child process uses them.
    ///
    /// - Parameters:
    ///   - known: the names that the program uses. A single socket without a name gets the first one.
    ///   - first: the number of the first descriptor (SD_LISTEN_FDS_START).
    package init(environment: [String: String], known: [String], first: CInt = 3) throws(Unusable) {
        for variable in Self.variables { unsafe unsetenv(variable) }
        guard let process = environment["LISTEN_PID"], Int(process) == Int(getpid()),
            let count = environment["LISTEN_FDS"].flatMap({ CInt($0) }), (1...64).contains(count)
        else { return }
        let descriptors = Array(first..<first + count)
        // From here on this process owns them. If one is refused, all are closed.
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        do throws(Unusable) {
            let names = try Self.names(environment["LISTEN_FDNAMES"], count: descriptors.count, known: known)
            for (name, descriptor) in zip(names, descriptors) {
                guard members[name] == nil else {
                    throw Unusable(
                        description: "the service manager passed two sockets named \(name); one broadcast has one: "
                            + "write one ListenStream= into its unit")
                }
                try Self.check(descriptor, name)
                members[name] = descriptor
            }
        } catch {
            for descriptor in descriptors { close(descriptor) }
            members = [:]
            throw error
        }
    }

    deinit { for descriptor in members.values { close(descriptor) } }

    /// Transfers the socket with this name to the caller; nil if it was not passed or is already taken.
    package mutating func take(_ name: String) -> OwnedDescriptor? {
        members.removeValue(forKey: name).map { OwnedDescriptor($0) }
    }

    /// The address of the socket with this name, for messages; nil if there is none.
    package func path(of name: String) -> String? {
        members[name].map { UnixAddress.text(ofSocket: $0) ?? "a socket without a name" }
    }

    /// Names of the sockets that are not taken.
    package var names: [String] { members.keys.sorted() }

    private static func names(_ text: String?, count: Int, known: [String]) throws(Unusable) -> [String] {
        // systemd-socket-activate passes no names unless it is given some.
        let names = text.map { $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init) } ?? []
        if count == 1, names.isEmpty || names == ["unknown"] || names == [""] { return Array(known.prefix(1)) }
        guard names.count == count else {
            throw Unusable(
                description: "the service manager passed \(count) sockets and \(names.count) names (LISTEN_FDNAMES); "
                    + "each needs one of \(known.joined(separator: ", "))")
        }
        if let stranger = names.first(where: { !known.contains($0) }) {
            throw Unusable(
                description: "the service manager passed a socket named \(stranger.debugDescription), for which there "
                    + "is no use; write FileDescriptorName= into its unit: one of \(known.joined(separator: ", "))")
        }
        return names
    }

    /// Refuses all but listening Unix stream sockets, because later errors would be less clear.
    private static func check(_ descriptor: CInt, _ name: String) throws(Unusable) {
        if let flaw = flaw(of: descriptor) {
            throw Unusable(
                description: "what the service manager passed as \(name) (descriptor \(descriptor)) \(flaw); its unit "
                    + "is to have ListenStream= with an absolute path, and no Accept=yes")
        }
        // We never block in accept, but the manager may have set blocking mode.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    private static func flaw(of descriptor: CInt) -> String? {
        guard let domain = option(SO_DOMAIN, of: descriptor) else { return "is no socket" }
        guard domain == AF_UNIX else { return "is no Unix socket" }
        guard option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue) else { return "is no stream socket" }
        return option(SO_ACCEPTCONN, of: descriptor) == 1 ? nil : "does not listen"
    }

    private static func option(_ option: CInt, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }
}
