import Foundation
package import Glibc

/// What the kernel says of another process.
package struct ProcessFigures: Sendable {
    /// The most that was ever resident (VmHWM), in bytes.
    package let peakResidentBytes: Int
    /// What is resident and no file's (RssAnon), in bytes.
    package let anonymousBytes: Int
    /// What is resident and shared with another process (RssShmem), in bytes.
    package let sharedBytes: Int
    package let openDescriptors: Int

    /// Nil where the process is gone.
    package init?(processID: pid_t) {
        guard let data = FileManager.default.contents(atPath: "/proc/\(processID)/status") else { return nil }
        var values: [Substring: Int] = [:]
        let text = String(decoding: data, as: UTF8.self)
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " })
            if fields.count >= 2, let number = Int(fields[1]) { values[fields[0]] = number }
        }
        guard let peak = values["VmHWM"], let anonymous = values["RssAnon"] else { return nil }
        peakResidentBytes = peak * 1024
        anonymousBytes = anonymous * 1024
        sharedBytes = (values["RssShmem"] ?? 0) * 1024
        openDescriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count) ?? 0
    }
}
