import Foundation
package import Glibc

/// The kernel's figures about a thread of another process.
package struct ThreadFigures: Sendable {
    /// How often it has given up the processor to wait (voluntary_ctxt_switches).
    package let wakeUps: Int

    /// - Throws: if there is no such thread.
    package init(of processID: pid_t, named name: String) throws {
        let folder = "/proc/\(processID)/task"
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard try Self.text("\(folder)/\(thread)/comm") == name + "\n" else { continue }
            let status = try Self.text("\(folder)/\(thread)/status")
            guard let value = status.firstMatch(of: /\nvoluntary_ctxt_switches:\t([0-9]+)/)?.1 else { continue }
            wakeUps = Int(value) ?? 0
            return
        }
        throw TestFailure("process \(processID) has no thread \(name)")
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
