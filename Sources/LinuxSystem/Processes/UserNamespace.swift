internal import Glibc

/// Whether the kernel can tell this process which user or group another process has (user_namespaces(7)).
///
/// In a user namespace, the kernel reports each unmapped number as the overflow number, so that all these users look
/// the same.
package enum UserNamespace {
    /// The number that the kernel reports for each unmapped user. `nobody` has the same number on most systems.
    package static let overflowUser = overflow("/proc/sys/kernel/overflowuid")
    package static let overflowGroup = overflow("/proc/sys/kernel/overflowgid")

    /// Uses the kernel's default if /proc/sys is hidden, as in a unit with ProcSubset=pid.
    private static func overflow(_ path: String) -> UInt32 {
        KernelText.number(path).flatMap(UInt32.init(exactly:)) ?? 65_534
    }

    /// Why users or groups cannot be distinguished, as the end of a sentence; nil if all are mapped.
    ///
    /// - Parameter process: the process's folder in /proc.
    package static func problem(process: String = "/proc/self") -> String? {
        for name in ["uid_map", "gid_map"] {
            let path = "\(process)/\(name)"
            guard let text = read(path) else {
                // A kernel without user namespaces does not have the file.
                if unsafe access("\(process)/status", F_OK) == 0 { continue }
                return "\(path) cannot be read"
            }
            guard let map = IdentityMap(text) else { return "\(path) cannot be understood" }
            let kind = name == "uid_map" ? "users" : "groups"
            if !map.isWhole { return "its user namespace maps only \(map.count) \(kind) (\(path))" }
        }
        return nil
    }

    private static func read(_ path: String) -> String? {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let file = OwnedDescriptor(raw)
        // The kernel allows 340 lines of 33 bytes.
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe Glibc.read(file.raw, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

/// The mapped numbers of a user namespace, from uid_map or gid_map in /proc.
package struct IdentityMap: Equatable, Sendable {
    /// Numbers inside the namespace, sorted and disjoint.
    private var ranges: [Range<UInt64>] = []

    /// Numbers have 32 bits, and the last one is invalid.
    private static let all: Range<UInt64> = 0..<UInt64(UInt32.max)

    /// - Parameter text: lines of three numbers: the first one inside, the first one outside, and the count.
    package init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            guard numbers.count == 3, line.split(separator: " ").count == 3 else { return nil }
            ranges.append(UInt64(numbers[0])..<UInt64(numbers[0]) + UInt64(numbers[2]))
        }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        guard zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound }) else { return nil }
    }

    /// The count of mapped numbers.
    package var count: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }

    /// Whether all numbers are mapped.
    package var isWhole: Bool { ranges.reduce(0) { $0 + UInt64($1.clamped(to: Self.all).count) } == Self.all.count }
}
