internal import Glibc

/// A memory cgroup of this process: its own, or a parent.
///
/// Supports version 2 (memory.max) and version 1 (memory.limit_in_bytes) of the interface; see cgroups(7). In a
/// container the kernel may report the host's path. Then the group is the root of the mounted file system.
package struct MemoryGroup: Equatable, Sendable {
    /// The memory charged to a group, in bytes.
    package struct Usage: Equatable, Sendable {
        /// The effective limit: the lower of the hard limit and, in version 2, the throttling limit.
        package var limit: Int
        package var charged: Int
        /// The part that is page cache, which the kernel can reclaim.
        package var files: Int

        package init(limit: Int, charged: Int, files: Int) {
            self.limit = limit
            self.charged = charged
            self.files = files
        }
    }

    /// The name in messages.
    package let title: String
    let path: String
    private let isUnified: Bool
    // The paths are computed once, because the files are read several times a second.
    private let limitFile: String
    /// Version 2's throttling limit; empty in version 1.
    private let highFile: String
    private let usageFile: String
    private let statFile: String

    /// - Parameter path: the group's folder.
    init(path: String, isUnified: Bool) {
        self.path = path
        self.isUnified = isUnified
        title = "memory cgroup \(path)"
        limitFile = path + (isUnified ? "/memory.max" : "/memory.limit_in_bytes")
        highFile = isUnified ? path + "/memory.high" : ""
        usageFile = path + (isUnified ? "/memory.current" : "/memory.usage_in_bytes")
        statFile = path + "/memory.stat"
    }

    /// The groups of this process, its own first; empty without a memory controller.
    package static func own() -> [MemoryGroup] {
        guard let file = unsafe fopen("/proc/self/cgroup", "re") else { return [] }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        bytes.removeLast(bytes.count - count)
        return groups(in: String(decoding: bytes, as: UTF8.self)) { unsafe access($0, R_OK) == 0 }
    }

    /// - Parameters:
    ///   - text: contents of `/proc/self/cgroup`: lines of `number:controllers:path`; for version 2 the line `0::path`.
    ///   - exists: whether a file exists.
    static func groups(in text: String, exists: (String) -> Bool) -> [MemoryGroup] {
        var unified: Substring?
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            if fields[1].split(separator: ",").contains("memory") {
                return groups(root: "/sys/fs/cgroup/memory", fields[2], isUnified: false, exists)
            }
            if fields[0] == "0", fields[1].isEmpty { unified = fields[2] }
        }
        return unified.map { groups(root: "/sys/fs/cgroup", $0, isUnified: true, exists) } ?? []
    }

    private static func groups(
        root: String, _ path: Substring, isUnified: Bool, _ exists: (String) -> Bool
    ) -> [MemoryGroup] {
        var names = path.split(separator: "/")
        // "/.." leads out of the cgroup namespace, to a group that is not visible.
        if names.contains("..") { names = [] }
        if !exists(([root] + names.map(String.init) + ["cgroup.procs"]).joined(separator: "/")) { names = [] }
        var groups: [MemoryGroup] = []
        while true {
            let folder = ([root] + names.map(String.init)).joined(separator: "/")
            groups.append(MemoryGroup(path: folder, isUnified: isUnified))
            if names.isEmpty { return groups }
            names.removeLast()
        }
    }

    /// The current usage; nil for a group without a limit. Allocates nothing.
    package func usage() -> Usage? {
        guard let limit, let charged = KernelText.number(usageFile) else { return nil }
        // In version 1, only the `total_` fields include child groups.
        let files =
            isUnified
            ? KernelText.fields(statFile, "inactive_file", "active_file", "slab_reclaimable")
            : KernelText.fields(statFile, "total_inactive_file", "total_active_file")
        guard let files else { return nil }
        return Usage(limit: limit, charged: charged, files: (files.0 ?? 0) + (files.1 ?? 0) + (files.2 ?? 0))
    }

    private var limit: Int? {
        // Version 1 represents "none" as a page count near the maximum.
        let none = 1 << 60
        var limit = KernelText.number(limitFile) ?? none
        if isUnified { limit = min(limit, KernelText.number(highFile) ?? none) }
        return limit < none ? limit : nil
    }
}
