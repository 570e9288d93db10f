import Foundation
package import Glibc

/// The kernel's figures about another process.
package struct ProcessFigures: Sendable {
    /// The peak resident memory (VmHWM), in bytes.
    package let peakResidentBytes: Int
    /// The resident memory that belongs to no file (RssAnon), in bytes.
    package let anonymousBytes: Int
    /// The resident memory that is shared with another process (RssShmem), in bytes.
    package let sharedBytes: Int
    package let openDescriptors: Int

    /// Nil if the process has ended.
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
