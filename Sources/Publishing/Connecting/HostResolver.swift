internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Resolves host names with a deadline.
///
/// getaddrinfo can neither be interrupted nor limited in time, so it runs on its own thread. A thread that takes too
/// long is abandoned. At most `maximumAbandoned` threads exist for one name, and `maximumThreads` in all.
enum HostResolver {
    /// More addresses than are tried, because the first few may all be of one family.
    static let maximumAddresses = 32
    static let maximumAbandoned = 2
    /// For the names of eight destinations and four webhooks, if all of them hang.
    static let maximumThreads = 24
    /// Lookups in progress by name, so that one name that hangs does not block others.
    private static let running = Monitor<[String: Int]>([:])

    static func addresses(
        of host: String, port: UInt16, control: PublishControl, until deadline: MediaTime
    ) throws(PublishError) -> [SocketAddress] {
        // Numeric addresses need no name server and cannot block.
        if case .success(let found) = look(up: host, port, flags: AI_NUMERICHOST) { return found }

        let lookup: Lookup
        do { lookup = try Lookup() } catch {
            throw PublishError(.system, "cannot resolve \(host): \(error)")
        }
        let mayStart = running.withLock { running in
            guard running[host, default: 0] < maximumAbandoned,
                running.values.reduce(0, +) < maximumThreads
            else { return false }
            running[host, default: 0] += 1
            return true
        }
        guard mayStart else {
            throw PublishError(.nameResolution, "cannot resolve \(host): earlier lookups hang")
        }
        do {
            try startDetachedThread {
                let result = look(up: host, port, flags: 0)
                lookup.result.withLock { $0 = result }
                lookup.isDone.signal()
                end(host)
            }
        } catch {
            end(host)
            throw PublishError(.system, "cannot resolve \(host): no thread for it: \(error)")
        }
        switch control.wait(for: POLLIN, on: lookup.isDone.raw, until: deadline) {
        case .cancelled: throw PublishError(.cancelled, "resolving \(host) was cancelled")
        case .timeout: throw PublishError(.nameResolution, "resolving \(host) took too long")
        case .ready: break
        }
        switch lookup.result.withLock({ $0 }) {
        case .success(let found)?: return found
        case .failure(let error)?: throw PublishError(.nameResolution, "cannot resolve \(host): \(error.text)")
        case nil: throw PublishError(.system, "cannot resolve \(host): the lookup ended without a result")
        }
    }

    private static func end(_ host: String) {
        running.withLock { running in
            running[host, default: 1] -= 1
            if running[host] == 0 { running[host] = nil }
        }
    }

    /// Shared by the waiting thread and the lookup thread; the last one frees it.
    private final class Lookup: Sendable {
        let result = Monitor<Result<[SocketAddress], LookupError>?>(nil)
        let isDone: EventDescriptor
        init() throws(Errno) { isDone = try EventDescriptor() }
    }

    private struct LookupError: Error { var text: String }

    private static func look(up host: String, _ port: UInt16, flags: Int32) -> Result<[SocketAddress], LookupError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            let text = code == EAI_SYSTEM ? Errno.current.description : unsafe String(cString: gai_strerror(code))
            return .failure(LookupError(text: text))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var entry = unsafe list
        while let info = unsafe entry, found.count < maximumAddresses {
            if let address = unsafe SocketAddress(info.pointee.ai_addr, length: info.pointee.ai_addrlen) {
                found.append(address)
            }
            unsafe entry = info.pointee.ai_next
        }
        return found.isEmpty ? .failure(LookupError(text: "it has no IPv4 or IPv6 address")) : .success(found)
    }

    private final class ThreadBody {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread that frees its stack when it ends.
    private static func startDetachedThread(_ run: @escaping @Sendable () -> Void) throws(Errno) {
        let body = unsafe Unmanaged.passRetained(ThreadBody(run))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, 256 * 1024)
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                unsafe Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard result == 0 else {
            unsafe body.release()
            throw Errno(result)
        }
    }
}
