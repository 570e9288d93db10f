import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// What a service manager is told arrives, and is what sd_notify(3) says.
@Suite struct ServiceNotifierTests {
    /// A manager's end: a datagram socket with a name.
    private final class Manager {
        let descriptor: OwnedDescriptor
        private let folder: TemporaryDirectory
        let name: String

        init(isAbstract: Bool = false) throws {
            folder = try TemporaryDirectory("notify")
            name = (isAbstract ? "@" : "") + folder.file("socket")
            descriptor = try OwnedDescriptor(checking: socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(2 + bytes.count)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor.raw, $0, length) }
            }
            guard result == 0 else { throw Errno.current }
        }

        /// What has come; empty where nothing has.
        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor.raw, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// Both kinds of addresses that systemd uses; an abstract one must not be padded with zeros.
    @Test(arguments: [false, true]) func arrives(isAbstract: Bool) throws {
        let manager = try Manager(isAbstract: isAbstract)
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.name]))
        try notifier.tell([.ready, .status("idle")])
        #expect(manager.next() == "READY=1\nSTATUS=idle")
        try notifier.tell([.watchdog])
        #expect(manager.next() == "WATCHDOG=1")
        try notifier.tell([.reloading(since: .milliseconds(1500))])
        #expect(manager.next() == "RELOADING=1\nMONOTONIC_USEC=1500000")
        try notifier.tell([.stopping, .needs(.seconds(8))])
        #expect(manager.next() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=8000000")
    }

    /// A destination's name could hold a line end, which would begin another assignment.
    @Test func aStatusIsOneLine() throws {
        let manager = try Manager()
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.name]))
        try notifier.tell([.status("live\nSTOPPING=1\r\nMAINPID=1")])
        #expect(manager.next() == "STATUS=live STOPPING=1 MAINPID=1")
    }

    @Test(arguments: [nil, "", "relative/path", "vsock:2:1234", "@", "/" + String(repeating: "x", count: 120)])
    func nobodyToTell(name: String?) {
        let environment = name.map { ["NOTIFY_SOCKET": $0] } ?? [:]
        #expect(ServiceNotifier(environment: environment) == nil)
    }

    /// A manager that has gone is an error, and no reason to end.
    @Test func aManagerThatHasGone() throws {
        let folder = try TemporaryDirectory("notify")
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": folder.file("socket")]))
        #expect(throws: Errno(ENOENT)) { try notifier.tell([.ready]) }
    }

    /// One that does not read holds nobody up for long.
    @Test func aManagerThatDoesNotRead() throws {
        let manager = try Manager()
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.name]))
        #expect(throws: Errno(EAGAIN)) { for _ in 0..<10_000 { try notifier.tell([.watchdog]) } }
    }

    @Test func watchdog() {
        #expect(ServiceWatchdog(environment: ["WATCHDOG_USEC": "10000000"])?.timeout == .seconds(10))
        let mine = ["WATCHDOG_USEC": "500000", "WATCHDOG_PID": "42"]
        #expect(ServiceWatchdog(environment: mine, processID: 42)?.timeout == .milliseconds(500))
        #expect(ServiceWatchdog(environment: mine, processID: 43) == nil)
        for text in ["", "0", "-1", "soon", "99999999999999999999"] {
            #expect(ServiceWatchdog(environment: ["WATCHDOG_USEC": text]) == nil, "\(text)")
        }
    }
}
