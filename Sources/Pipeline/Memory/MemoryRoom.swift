internal import Configuration
internal import LinuxSystem

/// Headroom to the tightest memory limit: a cgroup's or `memory.cap_bytes`.
struct MemoryRoom: Equatable, Sendable {
    /// The name of the limit, for messages.
    var bound: String
    var limit: Int
    /// Memory that the kernel cannot reclaim, and the code in use, in bytes.
    var needed: Int

    var left: Int { limit - needed }

    /// Code and constants that a broadcast uses. With less in memory, the kernel reads them again and again. The plan's
    /// baseline counts the same.
    static let codeInUse = 4_000_000

    /// The limit of a cgroup. The kernel can reclaim file pages, apart from the code in use.
    init(_ usage: MemoryGroup.Usage, of title: String) {
        bound = title
        limit = usage.limit
        needed = usage.charged - max(0, usage.files - Self.codeInUse)
    }

    /// The configured cap, with and without a cgroup: counts private memory and the code in use.
    init(_ memory: ProcessMemory, cap: Int) {
        bound = "memory.cap_bytes"
        limit = cap
        needed = memory.anonymous + min(memory.mappedFiles, Self.codeInUse)
    }

    /// The tightest of all limits; nil if neither /proc nor a cgroup can be read. Allocates nothing.
    static func tightest(cap: Int, groups: [MemoryGroup]) -> MemoryRoom? {
        var tightest = ProcessMemory.current().map { MemoryRoom($0, cap: cap) }
        for group in groups {
            guard let usage = group.usage() else { continue }
            let room = MemoryRoom(usage, of: group.title)
            if room.left < tightest?.left ?? .max { tightest = room }
        }
        return tightest
    }
}
