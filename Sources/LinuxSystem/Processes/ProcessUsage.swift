internal import Glibc

/// What this process has used, as Prometheus's client libraries report it.
package struct ProcessUsage: Equatable, Sendable {
    /// Processor time of all threads, user and system.
    package var cpuNanoseconds: UInt64 = 0
    /// Open descriptors; nil without /proc.
    package var openDescriptors: Int?
    /// RLIMIT_NOFILE's soft limit; nil for none.
    package var maximumDescriptors: Int?
    /// Address space (VmSize) in bytes; nil without /proc.
    package var virtualBytes: Int?

    /// Reads the current values. Any thread.
    package static func current() -> ProcessUsage {
        var usage = ProcessUsage()
        var time = timespec()
        if unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            usage.cpuNanoseconds = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
        usage.openDescriptors = openDescriptors()
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        if isKnown, limit.rlim_cur < rlim_t(Int.max) {
            usage.maximumDescriptors = Int(limit.rlim_cur)
        }
        usage.virtualBytes = KernelText.fields("/proc/self/status", "VmSize", "VmSize")?.0.map { $0 * 1024 }
        return usage
    }

    private static func openDescriptors() -> Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Without ".", ".." and the descriptor of the folder itself.
        return max(0, count - 3)
    }
}
