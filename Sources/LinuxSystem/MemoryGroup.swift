/// A memory cgroup that this process is in: its own, or one above that.
///
/// Version 2 (memory.max) and version 1 (memory.limit_in_bytes) of the kernel's interface; see cgroups(7). In a
/// container the path that the kernel tells may be the host's: then the root of what is mounted is the group.
package struct MemoryGroup: Equatable, Sendable {
    /// What is charged to a group, in bytes.
    package struct Usage: Equatable, Sendable {
        /// What the kernel kills for: the lower of the hard limit and, in version 2, the throttling one.
        package var limit: Int
        package var charged: Int
        /// Of that, copies of files, which the kernel takes back when it needs room.
        package var files: Int

        package init(limit: Int, charged: Int, files: Int) {
            self.limit = limit
            self.charged = charged
            self.files = files
        }
    }

    /// The group's folder.
    package let path: String
    let isUnified: Bool

    /// The groups of this process, its own first; none where there is no memory controller.
    package static func own() -> [MemoryGroup] {
        guard let text = KernelText.read("/proc/self/cgroup") else { return [] }
        return groups(in: text) { KernelText.read($0) != nil }
    }

    /// - Parameters:
    ///   - text: `/proc/self/cgroup`: lines of `number:controllers:path`; version 2 has the line `0::path`.
    ///   - exists: whether there is such a file.
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
        // "/.." leads out of a namespace: to a group that cannot be seen.
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

    /// What is charged now; nil for a group without a limit.
    package func usage() -> Usage? {
        let current = isUnified ? "/memory.current" : "/memory.usage_in_bytes"
        guard let limit, let charged = KernelText.number(path + current),
            let text = KernelText.read(path + "/memory.stat")
        else { return nil }
        // In version 1 only the totals count what is in groups below.
        let counted: Set<Substring> =
            isUnified
            ? ["inactive_file", "active_file", "slab_reclaimable"] : ["total_inactive_file", "total_active_file"]
        var files = 0
        KernelText.forEachField(of: text) { name, value in if counted.contains(name) { files += Int(value) ?? 0 } }
        return Usage(limit: limit, charged: charged, files: files)
    }

    private var limit: Int? {
        // Version 1 has a number of pages for "none" that is almost the largest there is.
        let none = 1 << 60
        let names = isUnified ? ["/memory.max", "/memory.high"] : ["/memory.limit_in_bytes"]
        return names.compactMap { KernelText.number(path + $0) }.filter { $0 < none }.min()
    }
}
