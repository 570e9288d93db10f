internal import Configuration
internal import LinuxSystem

/// Headroom to the tightest memory limit: a cgroup's or `memory.cap_bytes`.
struct MemoryRoom: Equatable, Sendable {
    /// Whose limit it is, for people.
    var bound: String
    var limit: Int
    /// What cannot be taken back, and the code that is needed.
    var needed: Int

    var left: Int { limit - needed }

    /// Code and constants that the daemon cannot do without while it broadcasts; with less in memory it only reads
    /// them again and again. The plan's baseline counts the same.
    static let codeInUse = 4_000_000

    /// A cgroup's limit: copies of files go when the kernel needs room, all but the code in use.
    init(_ usage: MemoryGroup.Usage, of title: String) {
        bound = title
        limit = usage.limit
        needed = usage.charged - max(0, usage.files - Self.codeInUse)
    }

    /// The configured cap, which holds with and without a cgroup: what is ours alone, and the code in use.
    init(_ memory: ProcessMemory, cap: Int) {
        bound = "memory.cap_bytes"
        limit = cap
        needed = memory.anonymous + min(memory.mappedFiles, Self.codeInUse)
    }

    /// The tightest of all bounds; nil where neither /proc nor a cgroup can be read. Allocates nothing.
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
