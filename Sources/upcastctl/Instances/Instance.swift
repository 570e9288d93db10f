import ControlClient
import Glibc
import LinuxSystem
import MediaCore
import Wording

/// A daemon of this machine, as found by its sockets.
struct Instance: Equatable, Sendable {
    /// The NAME of `upcastd@NAME`; `default` for a daemon whose socket is in the runtime folder itself.
    var name: String
    /// The path of the control socket.
    var socket: String
    /// Whether only its capture socket exists. systemd starts such a daemon for the first client.
    var isWaiting = false
}

/// The folder with the sockets of all instances: `control.sock`, and `NAME/control.sock` of the systemd units.
struct InstanceFolder {
    /// Names the daemon whose socket is in the folder itself.
    static let plainName = "default"
    private static let socketName = "control.sock"
    /// The most entries of the folder that are read.
    private static let maxEntries = 4096

    let path: String

    /// - Parameter path: nil for the folder that the environment names, or else that of the default sockets.
    init(path: String? = nil) {
        self.path = path ?? Environment.value("UPCAST_RUNTIME_DIRECTORY") ?? RuntimeFolder.current
    }

    private var plain: Instance { Instance(name: Self.plainName, socket: "\(path)/\(Self.socketName)") }

    /// All instances, by name. A folder that this user may not enter counts, because its socket may exist.
    var all: [Instance] {
        var found: [Instance] = []
        var captureSockets: [String] = []
        for entry in entries {
            if entry.hasSuffix(".sock") {
                captureSockets.append(String(entry.dropLast(".sock".count)))
            } else if mayExist("\(path)/\(entry)/\(Self.socketName)") {
                found.append(Instance(name: entry, socket: "\(path)/\(entry)/\(Self.socketName)"))
            }
        }
        if mayExist(plain.socket) {
            // An instance folder with that name has precedence. The plain instance then gets its path as its name.
            let isTaken = found.contains { $0.name == Self.plainName }
            found.append(Instance(name: isTaken ? plain.socket : Self.plainName, socket: plain.socket))
        }
        for name in captureSockets where name != "control" && name != "capture" {
            guard !found.contains(where: { $0.name == name }) else { continue }
            found.append(Instance(name: name, socket: "\(path)/\(name)/\(Self.socketName)", isWaiting: true))
        }
        return found.sorted { $0.name < $1.name }
    }

    /// The instance that `-i` names. An unknown name is an error that lists the instances.
    func named(_ name: String) throws(ControlClientError) -> Instance {
        let all = all
        let shown = TerminalText.printable(name)
        // If the folder cannot be read, the error comes from connecting.
        if isUnreadable, !name.contains("/") {
            return name == Self.plainName ? plain : Instance(name: name, socket: "\(path)/\(name)/\(Self.socketName)")
        }
        guard let instance = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name)
            let help =
                names.isEmpty
                ? "there are no instances in \(path)"
                : didYouMean(name, names) ?? "there is \(names.joined(separator: ", "))"
            throw .noSocket(TerminalText.printable("no instance is named \"\(shown)\": \(help)"))
        }
        if instance.isWaiting { throw Self.notStarted([instance.name]) }
        return instance
    }

    /// The default instance: the only one, or the only one at whose socket a process listens.
    ///
    /// - Throws: `UsageError` if several run, or a `ControlClientError` that says what to start.
    func only(isListening: (Instance) -> Bool = Self.isListening) throws -> Instance {
        let all = all
        let sockets = all.filter { !$0.isWaiting }
        guard sockets.count > 1 else {
            if let only = sockets.first { return only }
            if isUnreadable { return plain }
            guard all.isEmpty else { throw Self.notStarted(all.map(\.name)) }
            throw ControlClientError.noSocket(
                TerminalText.printable(
                    "no daemon was found: there is no \(plain.socket), and no \(path)/NAME/\(Self.socketName); start "
                        + "upcastd (systemctl start upcastd@NAME), or name its socket with --socket or "
                        + "UPCAST_CONTROL_SOCKET"))
        }
        let listening = sockets.filter(isListening)
        switch listening.count {
        case 1: return listening[0]
        case 0:
            let names = sockets.map(\.name).joined(separator: ", ")
            throw ControlClientError.nobodyListens(
                TerminalText.printable(
                    "no daemon runs: nothing listens at the sockets of \(names) in \(path), which upcastd left when "
                        + "it ended"))
        default: throw Self.ambiguous(listening.map(\.name))
        }
    }

    private static func ambiguous(_ names: [String]) -> UsageError {
        let list = TerminalText.printable(names.joined(separator: ", "))
        return UsageError(
            description: "several daemons run here: \(list); choose one with -i NAME or UPCAST_INSTANCE")
    }

    private static func notStarted(_ names: [String]) -> ControlClientError {
        let units = names.map { "upcastd@\($0)" }.joined(separator: ", ")
        return .noSocket(
            TerminalText.printable(
                "\(units) \(names.count == 1 ? "is" : "are") not running: systemd starts it for the first client; to "
                    + "start it now: systemctl start upcastd@\(names.count == 1 ? names[0] : "NAME")"))
    }

    /// Whether a process listens at the socket. A socket that this user may not use counts.
    static func isListening(_ instance: Instance) -> Bool {
        do throws(UnixSocket.Failure) {
            _ = try UnixSocket.connect(path: instance.socket, timeout: .milliseconds(200))
            return true
        } catch {
            switch SocketRefusal(error, path: instance.socket) {
            case .missing, .nobodyListens, .notASocket, .other: return false
            case .forbidden, .full: return true
            }
        }
    }

    private func mayExist(_ socket: String) -> Bool {
        var status = stat()
        guard unsafe stat(socket, &status) == 0 else { return Errno.current.code == EACCES }
        return status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether this user may not list the folder.
    var isUnreadable: Bool {
        guard let stream = unsafe opendir(path) else { return Errno.current.code == EACCES }
        unsafe closedir(stream)
        return false
    }

    private var entries: [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < Self.maxEntries, let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", name != Self.socketName { names.append(name) }
        }
        return names
    }
}
