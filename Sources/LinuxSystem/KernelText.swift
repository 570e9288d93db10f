internal import Glibc

/// Short texts in which the kernel tells figures: files of /proc and of the cgroup file systems.
enum KernelText {
    /// The first 8 KiB of a file; nil where it cannot be read.
    static func read(_ path: String) -> String? {
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        let descriptor = OwnedDescriptor(fd)
        return unsafe withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 1) { buffer in
            let count = unsafe Glibc.read(descriptor.raw, buffer.baseAddress!, buffer.count)
            guard count >= 0 else { return nil }
            return unsafe String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// The number that is all there is in a file; nil for anything else, such as "max".
    static func number(_ path: String) -> Int? {
        read(path).flatMap { Int($0.prefix { $0 != "\n" }) }
    }

    /// Calls `body` with the first two words of each line.
    static func forEachField(of text: String, _ body: (_ name: Substring, _ value: Substring) -> Void) {
        for line in text.split(separator: "\n") {
            let words = line.split(maxSplits: 2, whereSeparator: { $0 == " " || $0 == "\t" || $0 == ":" })
            if words.count >= 2 { body(words[0], words[1]) }
        }
    }
}
