import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

/// Promise: each mapping of a file that shrinks knows of its loss, whatever other threads map.
@Suite struct FileMappingTests {
    /// Bug: a mapping was unmapped before it was forgotten. Another thread's mapping could get its addresses meanwhile,
    /// and its loss was noted at the forgotten one.
    @Test func threadsThatMapAtTheSameTime() throws {
        let folder = try TemporaryDirectory("mapping")
        let missed = Monitor<[String]>([])
        var threads: [WorkerThread] = []
        defer { for thread in threads { thread.join() } }
        for number in 0..<4 {
            let path = folder.file("\(number)")
            threads.append(
                try WorkerThread(name: "test-mapping") {
                    do {
                        for _ in 0..<2000 where try !Self.noticesItsLoss(path) {
                            missed.withLock { $0.append("a loss of \(path)") }
                        }
                    } catch {
                        missed.withLock { $0.append("\(error)") }
                    }
                })
        }
        for thread in threads { thread.join() }
        #expect(missed.withLock { $0 } == [])
    }

    private static func noticesItsLoss(_ path: String) throws -> Bool {
        let file = try OwnedDescriptor(checking: open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        try #require(ftruncate(file.raw, 4096) == 0)
        let mapping = try FileMapping(file.raw, byteCount: 4096)
        try #require(ftruncate(file.raw, 0) == 0)
        return mapping.bytes(0..<1)[0] == 0 && !mapping.isWhole
    }
}
