import Foundation
import Glibc
import LinuxSystem
import MediaCore
import Testing

@Suite struct NetworkWatchTests {
    private static let ip = ["/usr/sbin/ip", "/sbin/ip"].first { FileManager.default.isExecutableFile(atPath: $0) }
    /// A network namespace takes root, and a kernel that has them.
    private static let canTry = geteuid() == 0 && ip != nil && unshares

    private static var unshares: Bool {
        let answer = Monitor(false)
        guard
            let thread = try? WorkerThread(name: "test-unshare", { answer.withLock { $0 = leaveNetwork() } })
        else { return false }
        thread.join()
        return answer.withLock { $0 }
    }

    /// unshare(CLONE_NEWNET), which Swift does not see: the calling thread gets a network of its own.
    private static func leaveNetwork() -> Bool {
        guard let symbol = dlsym(nil, "unshare") else { return false }
        return unsafeBitCast(symbol, to: (@convention(c) (CInt) -> CInt).self)(0x4000_0000) == 0
    }

    /// By the calling thread itself: a child has the network of the thread that starts it.
    private static func run(_ arguments: String...) -> Bool {
        var words = (["ip"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        var status: CInt = -1
        guard posix_spawn(&child, ip!, nil, nil, &words, environ) == 0, waitpid(child, &status, 0) == child else {
            return false
        }
        return status == 0
    }

    /// In a network namespace of the thread's own: nothing of the machine's network is touched.
    @Test(.enabled(if: canTry, "needs root and the ip tool")) func anAddressThatComesIsNoticed() throws {
        let seen = Monitor<[String]>([])
        let thread = try WorkerThread(name: "test-network") {
            func note(_ text: String) { seen.withLock { $0.append(text) } }
            guard Self.leaveNetwork(), let watch = try? NetworkWatch() else { return note("no namespace") }
            if watch.take() { note("news before anything happened") }
            if !Self.run("link", "set", "lo", "up") || !Self.run("address", "add", "10.99.0.1/32", "dev", "lo") {
                note("no address")
            }
            var descriptor = pollfd(fd: watch.raw, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 5_000) != 1 { note("not readable") }
            if !watch.take() { note("an address was not noticed") }
            if watch.take() { note("told twice") }
            if !Self.run("address", "del", "10.99.0.1/32", "dev", "lo") { note("the address stayed") }
            _ = poll(&descriptor, 1, 5_000)
            if watch.take() { note("an address that went was taken for one that came") }
        }
        thread.join()
        #expect(seen.withLock { $0 } == [])
    }

    @Test func aSetIsReadableWhenAMemberIs() throws {
        let (first, second) = (try EventDescriptor(), try EventDescriptor())
        let set = try DescriptorSet([first.raw, second.raw])
        func isReadable() -> Bool {
            var descriptor = pollfd(fd: set.raw, events: Int16(POLLIN), revents: 0)
            return poll(&descriptor, 1, 0) == 1
        }
        #expect(!isReadable())
        second.signal()
        #expect(isReadable())
        #expect(second.clear() && !second.clear())
        #expect(!isReadable())
        first.signal()
        #expect(isReadable())
    }
}
