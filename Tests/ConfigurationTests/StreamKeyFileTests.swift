import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Configuration

/// What may stand where a stream key's file is expected and is no file: a daemon that waits for it would hang.
@Suite struct StreamKeyFileTests {
    @Test(arguments: ["pipe", "/dev/zero", "/tmp", "socket"]) func onlyAFileIsRead(what: String) throws {
        let folder = try TemporaryDirectory("key")
        var destination = DestinationConfiguration()
        destination.keyFile = what.hasPrefix("/") ? what : folder.file(what)
        if what == "pipe" { try #require(mkfifo(folder.file(what), 0o600) == 0) }
        if what == "socket" { try #require(mknod(folder.file(what), S_IFSOCK | 0o600, 0) == 0) }
        let error = try #require(try secretError(of: destination))
        #expect(error.source == "key_file \(destination.keyFile!)")
        // The kernel itself refuses to open a socket's file.
        guard what != "socket" else { return #expect(error.what.hasPrefix("cannot be opened")) }
        #expect(error.what == "is not a regular file")
        #expect(error.remedy == "name a file, not a folder, pipe or device")
    }

    /// The configuration's own file is read by the same rules.
    @Test func aPipeIsNoConfiguration() throws {
        let folder = try TemporaryDirectory("yaml")
        let path = folder.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let error = try onThread(unblockingBy: path) { () -> String in
            do { return try "\(Configuration.load(path: path, environment: [:]))" } catch { return "\(error)" }
        }
        #expect(error == "\(path): is not a regular file; name a file, not a folder, pipe or device")
    }

    private func secretError(of destination: DestinationConfiguration) throws -> SecretError? {
        try onThread(unblockingBy: destination.keyFile!) {
            do throws(SecretError) {
                _ = try destination.streamKey(environment: [:])
                return nil
            } catch {
                return error
            }
        }
    }

    /// Runs `body` on a thread of its own; where it waits for a writer of the pipe `path`, it gets one, and the test
    /// fails.
    private func onThread<Value: Sendable>(
        unblockingBy path: String, _ body: @escaping @Sendable () -> Value
    ) throws -> Value {
        let result = Monitor<Value?>(nil)
        let thread = try WorkerThread(name: "key-reader") {
            let value = body()
            result.signal { $0 = value }
        }
        defer { thread.join() }
        if let value = result.wait(until: MonotonicClock().now() + .seconds(10), { $0 }) { return value }
        Issue.record("reading \(path) waits for a writer")
        close(open(path, O_WRONLY | O_NONBLOCK))
        return result.wait { $0 }!
    }
}
