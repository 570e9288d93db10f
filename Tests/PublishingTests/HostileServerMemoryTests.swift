import Foundation
import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import Testing

/// Promise: no server increases the process's memory by more than a megabyte.
///
/// Runs in a separate process, because other concurrent tests would be measured, too. Without sanitizers, which use
/// memory of their own.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] == nil)) struct HostileServerMemoryTests {
    /// Input that would need 4 and 8 MB if memory were not bounded.
    static let swollen = [
        HostileServerTests.Junk("a command of 16 MB, a quarter of it sent") {
            $0.setChunkSize(0xff_ffff)
            $0.header(format: 0, stream: 3, length: 0xff_ffff, type: 20)
            $0.bytes += [UInt8](repeating: 0, count: 4 << 20)
        },
        HostileServerTests.Junk("commands of 16 KB on a thousand chunk streams, none complete") { writer in
            writer.setChunkSize(8_000)
            for stream in 3..<1000 {
                writer.header(format: 0, stream: stream, length: 16_000, type: 20)
                writer.bytes += [UInt8](repeating: 0, count: 8_000)
            }
        },
    ]

    @Test func noServerMovesMemory() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            ProcessMemory.limitOverhead()
            func breakOff(_ junk: HostileServerTests.Junk) throws {
                let server = try ScriptedServer { peer in
                    peer.handshake()
                    peer.send(junk.bytes)
                    peer.receiveAll()
                }
                _ = try HostileServerTests.run(port: server.port).failure()
            }
            let cases: [(name: String, run: () throws -> Void)] =
                (HostileServerTests.junk + HostileServerMemoryTests.swollen).map { junk in
                    (junk.name, { try breakOff(junk) })
                }
                + HostilePublishedServerTests.harmless.map { nuisance in
                    (nuisance.name, { _ = try HostilePublishedServerTests.publish(to: nuisance) })
                }
            // Memory of the first connections is never freed. Code that a case is the first to run becomes resident,
            // which is not what a server moves: 1.2 MB in one of many runs.
            for test in cases.prefix(2) + cases.suffix(2) { try test.run() }
            for test in cases where !HostileServerMemoryTests.swollen.contains(where: { $0.name == test.name }) {
                try test.run()
            }
            for test in cases {
                ProcessMemory.releaseFreed()
                // Resets the kernel's high-water mark (proc(5), clear_refs).
                try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
                let before = try #require(ProcessMemory.current())
                try test.run()
                let after = try #require(ProcessMemory.current())
                let growth = after.peakResident - before.resident
                FileHandle.standardError.write(Data("\(test.name): \(growth >> 10) KiB\n".utf8))
                #expect(growth <= 1 << 20, "\(test.name) moved memory by \(growth >> 10) KiB")
            }
        }
        print(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self))
    }
}
