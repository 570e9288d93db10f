internal import Glibc

extension ProcessMemory {
    /// Takes the clean pages of mapped files (code and constants of the executable and its libraries) out of the
    /// resident set, and returns how many bytes that were. What is used again comes back from the page cache at the
    /// cost of a minor fault; nothing is lost.
    ///
    /// libavcodec brings a hundred libraries, and the dynamic linker touches pages of all of them: 13 MB that are never
    /// used again. Call it when everything is loaded and set up; it takes some ten milliseconds. No other thread may
    /// load a library meanwhile. Does nothing where /proc is not mounted.
    ///
    /// Only private mappings that cannot be written to and hold no page of their own are touched (madvise(2),
    /// MADV_DONTNEED): a relocated page that was made read-only afterwards (RELRO) has no other copy, neither in memory
    /// (`Anonymous`) nor on swap (`Swap`).
    @discardableResult package static func releaseFilePages() -> Int {
        let fd = unsafe open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return 0 }
        let descriptor = OwnedDescriptor(fd)
        // Noted first and released afterwards: the kernel walks the mappings anew for each read.
        var clean: [MappedFile] = []
        var current = MappedFile()
        var lines = LineBuffer()
        while lines.fill(from: descriptor.raw) {
            while let line = lines.next() {
                if let header = MappedFile(header: line) {
                    if current.isClean { clean.append(current) }
                    current = header
                } else {
                    current.read(attribute: line)
                }
            }
        }
        if current.isClean { clean.append(current) }
        var released = 0
        for mapping in clean {
            guard let start = unsafe UnsafeMutableRawPointer(bitPattern: mapping.start) else { continue }
            if unsafe madvise(start, Int(mapping.end - mapping.start), CInt(MADV_DONTNEED)) == 0 {
                released += mapping.resident
            }
        }
        return released
    }
}

/// One mapping of `/proc/self/smaps`, see proc(5).
private struct MappedFile {
    var start: UInt = 0
    var end: UInt = 0
    var resident = 0
    private var isReadOnlyFile = false
    private var ownBytes = 0

    var isClean: Bool { isReadOnlyFile && ownBytes == 0 && resident > 0 }

    init() {}

    /// Reads `start-end perms offset device inode path`; nil for every other line: those begin with a capital.
    init?(header line: ArraySlice<UInt8>) {
        guard let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return nil }
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count >= 5 else { return nil }
        let bounds = fields[0].split(separator: UInt8(ascii: "-"))
        guard bounds.count == 2, let start = UInt(text(bounds[0]), radix: 16),
            let end = UInt(text(bounds[1]), radix: 16),
            start < end
        else { return nil }
        (self.start, self.end) = (start, end)
        let permissions = text(fields[1])
        isReadOnlyFile = permissions.hasPrefix("r-") && permissions.hasSuffix("p") && text(fields[4]) != "0"
    }

    /// Reads `Name:   12 kB`.
    mutating func read(attribute line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard isReadOnlyFile, fields.count >= 2 else { return }
        switch text(fields[0]) {
        case "Rss:": resident = (Int(text(fields[1])) ?? 0) * 1024
        // What cannot be read counts as not clean.
        case "Anonymous:", "Swap:": ownBytes += Int(text(fields[1])) ?? 1
        default: break
        }
    }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// Lines of a file that is read in parts.
private struct LineBuffer {
    private var bytes: [UInt8] = []
    private var start = 0

    /// Reads more; false at the end, or after an error.
    mutating func fill(from descriptor: CInt) -> Bool {
        bytes.removeFirst(start)
        start = 0
        let held = bytes.count
        bytes += repeatElement(0, count: 16 * 1024)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(descriptor, buffer.baseAddress! + held, buffer.count - held)
        }
        bytes.removeLast(bytes.count - held - max(0, count))
        return count > 0
    }

    /// The next whole line, without its end.
    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { start = end + 1 }
        return bytes[start..<end]
    }
}
