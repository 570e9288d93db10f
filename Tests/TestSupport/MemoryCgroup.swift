import Foundation

/// A memory cgroup with a hard limit and no swap, v1 or v2, for one process.
package final class MemoryCgroup: Sendable {
    /// The reason why this machine cannot create one.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String
    }

    private let path: String
    private let isUnified: Bool

    package init(limitBytes: Int) throws(Unavailable) {
        let name = "upcast-test-\(UUID().uuidString.prefix(8).lowercased())"
        let unified = FileManager.default.fileExists(atPath: "/sys/fs/cgroup/cgroup.controllers")
        isUnified = unified
        path = (unified ? "/sys/fs/cgroup/" : "/sys/fs/cgroup/memory/") + name
        if unified { try? Self.write("+memory", "/sys/fs/cgroup/cgroup.subtree_control") }
        guard mkdir(path, 0o755) == 0 else {
            throw Unavailable(description: "cannot make the memory cgroup \(path): \(String(cString: strerror(errno)))")
        }
        do {
            try setLimit(limitBytes)
            // If swap is not accounted for, the file is missing. If there is no swap, the limit has no effect.
            let swap = path + (unified ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes")
            if FileManager.default.fileExists(atPath: swap) { try Self.write(unified ? "0" : "\(limitBytes)", swap) }
        } catch {
            rmdir(path)
            throw Unavailable(description: "cannot set the limit of \(path): \(error)")
        }
    }

    /// Changes the limit while a process is in the group. The kernel then reclaims file pages.
    package func setLimit(_ bytes: Int) throws {
        try Self.write("\(bytes)", path + (isUnified ? "/memory.max" : "/memory.limit_in_bytes"))
    }

    deinit {
        // The kernel needs a moment to release the last process.
        for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { usleep(10_000) }
    }

    /// A command line that enters the group and then becomes `executable`, with the same process number.
    package func command(_ executable: String, _ arguments: [String]) -> (String, [String]) {
        ("sh", ["-c", "echo $$ > \"$0\" && exec \"$@\"", path + "/cgroup.procs", executable] + arguments)
    }

    /// How often the kernel killed a process because memory was short.
    package var kills: Int {
        let text = Self.read(path + (isUnified ? "/memory.events" : "/memory.oom_control"))
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.first == "oom_kill", let count = Int(fields.last ?? "") { return count }
        }
        return 0
    }

    /// The maximum that was charged to the group, in bytes, including the page cache.
    package var peakBytes: Int {
        Int(Self.read(path + (isUnified ? "/memory.peak" : "/memory.max_usage_in_bytes"))
            .trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    private static func read(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
    private static func write(_ text: String, _ path: String) throws {
        guard let file = FileHandle(forWritingAtPath: path) else { throw TestFailure("cannot open \(path)") }
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}
