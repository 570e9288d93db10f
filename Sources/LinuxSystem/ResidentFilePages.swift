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
    ///
    /// The C library reads the lines: there are 15,000 of them, and in a debug build Swift's own strings take most of a
    /// second.
    @discardableResult package static func releaseFilePages() -> Int {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return 0 }
        defer { unsafe fclose(file) }
        // Noted first and released afterwards: the kernel walks the mappings anew for each read.
        var clean: [MappedFile] = []
        var current = MappedFile()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
            if let header = unsafe MappedFile(header: text) {
                if current.isClean { clean.append(current) }
                current = header
            } else {
                unsafe current.read(attribute: text)
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

    /// Reads `start-end perms offset device inode path`, numbers in hexadecimal but for the inode; nil for every other
    /// line: those begin with a capital.
    init?(header line: UnsafePointer<CChar>) {
        guard unsafe isupper(CInt(line[0])) == 0 else { return nil }
        var rest: UnsafeMutablePointer<CChar>?
        start = unsafe strtoul(line, &rest, 16)
        guard let dash = unsafe rest, unsafe dash[0] == CChar(ascii: "-") else { return nil }
        end = unsafe strtoul(dash + 1, &rest, 16)
        guard start < end, let permissions = unsafe rest, unsafe strlen(permissions) > 6 else { return nil }
        unsafe strtoul(permissions + 6, &rest, 16)
        // Behind the offset and the device's two numbers.
        guard let device = unsafe rest, let inode = unsafe strchr(device + 1, CInt(ascii: " ")) else { return nil }
        let isPrivate = unsafe permissions[4] == CChar(ascii: "p")
        let isReadOnly = unsafe strncmp(permissions, " r-", 3) == 0
        let isFile = unsafe strtoul(inode, nil, 10) != 0
        isReadOnlyFile = isPrivate && isReadOnly && isFile
    }

    /// Reads `Name:   12 kB`.
    mutating func read(attribute line: UnsafePointer<CChar>) {
        guard isReadOnlyFile else { return }
        if let bytes = unsafe Self.value(of: "Rss:", in: line) { resident = bytes }
        if let bytes = unsafe Self.value(of: "Anonymous:", in: line) { ownBytes += bytes }
        if let bytes = unsafe Self.value(of: "Swap:", in: line) { ownBytes += bytes }
    }

    /// What cannot be read counts as something: a mapping with it is not clean.
    private static func value(of name: StaticString, in line: UnsafePointer<CChar>) -> Int? {
        let count = name.utf8CodeUnitCount
        guard unsafe strlen(line) > count, unsafe memcmp(line, name.utf8Start, count) == 0 else { return nil }
        var rest: UnsafeMutablePointer<CChar>?
        let number = unsafe line + count
        let kibibytes = unsafe strtol(number, &rest, 10)
        let isNumber = unsafe rest.map { unsafe UnsafePointer($0) } != number
        return isNumber ? kibibytes * 1024 : 1
    }
}

extension FixedWidthInteger {
    fileprivate init(ascii scalar: Unicode.Scalar) { self = Self(UInt8(ascii: scalar)) }
}
