import TestSupport
import Testing

@testable import LinuxSystem

@Suite struct MemoryGroupTests {
    private static func paths(_ text: String, existing: Set<String>) -> [String] {
        MemoryGroup.groups(in: text) { existing.contains($0) }.map(\.path)
    }

    @Test func versionTwoAndWhatIsAbove() {
        let paths = Self.paths(
            "0::/system.slice/upcastd@main.service\n",
            existing: ["/sys/fs/cgroup/system.slice/upcastd@main.service/cgroup.procs"])
        #expect(
            paths == [
                "/sys/fs/cgroup/system.slice/upcastd@main.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup",
            ])
    }

    @Test func versionOneWhereItHasTheController() {
        let paths = Self.paths(
            "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n1:name=systemd:/y\n0::/z\n",
            existing: ["/sys/fs/cgroup/memory/docker/abc/cgroup.procs"])
        #expect(
            paths == [
                "/sys/fs/cgroup/memory/docker/abc", "/sys/fs/cgroup/memory/docker", "/sys/fs/cgroup/memory",
            ])
    }

    /// In a container the kernel may tell the host's path, or one outside the namespace.
    @Test(arguments: ["0::/docker/abc\n", "0::/../../other\n", "0::/\n"])
    func aPathThatIsNotHereIsTheRoot(text: String) {
        #expect(Self.paths(text, existing: ["/sys/fs/cgroup/cgroup.procs"]) == ["/sys/fs/cgroup"])
    }

    @Test(arguments: ["", "4:memory\n", "garbage", "3:cpu:/x\n"]) func withoutAControllerThereIsNone(text: String) {
        #expect(Self.paths(text, existing: []).isEmpty)
    }

    /// Both versions' files, in a folder of the test's own.
    @Test(arguments: [true, false]) func usageIsWhatTheFilesSay(isUnified: Bool) throws {
        let folder = try TemporaryDirectory("group")
        func write(_ text: String, _ name: String) throws { try folder.write(text, to: name) }
        let group = MemoryGroup(path: folder.path, isUnified: isUnified)
        #expect(group.usage() == nil)
        if isUnified {
            try write("max\n", "memory.max")
            try write("4096000\n", "memory.current")
            try write(
                "anon 2000000\ninactive_file 1000\nactive_file 200\nslab_reclaimable 30\nfile 99999\n", "memory.stat")
            #expect(group.usage() == nil, "no limit")
            try write("50000000\n", "memory.high")
            #expect(group.usage() == MemoryGroup.Usage(limit: 50_000_000, charged: 4_096_000, files: 1_230))
            try write("40000000\n", "memory.max")
            #expect(group.usage()?.limit == 40_000_000)
        } else {
            try write("9223372036854771712\n", "memory.limit_in_bytes")
            try write("4096000\n", "memory.usage_in_bytes")
            try write("inactive_file 5\ntotal_inactive_file 1000\ntotal_active_file 230\n", "memory.stat")
            #expect(group.usage() == nil, "no limit")
            try write("50000000\n", "memory.limit_in_bytes")
            #expect(group.usage() == MemoryGroup.Usage(limit: 50_000_000, charged: 4_096_000, files: 1_230))
        }
    }
}
