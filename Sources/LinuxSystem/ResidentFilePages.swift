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
    /// From then on the kernel reads just the pages that are asked for (MADV_RANDOM). Usually it reads around them, as
    /// far as the disk's read-ahead says, 128 KiB or even 8 MiB: inside a memory cgroup that is nearly full each such
    /// read drives out the pages that are needed next, and the daemon does nothing but read its own code. Where code is
    /// mapped, Linux 6.18 reads ahead all the same, but not beyond the mapping: advice for every other 128 KiB makes
    /// many small mappings of it.
    ///
    /// The C library reads the lines: there are 15,000 of them, and in a debug build Swift's own strings take most of a
    /// second.
    @discardableResult package static func releaseFilePages() -> Int {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return 0 }
        defer { unsafe fclose(file) }
        // Noted first and released afterwards: the kernel walks the mappings anew for each read.
        var files: [MappedFile] = []
        var current = MappedFile()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
            if let header = unsafe MappedFile(header: text) {
                if current.isPrivateFile { files.append(current) }
                current = header
            } else {
                unsafe current.read(attribute: text)
            }
        }
        if current.isPrivateFile { files.append(current) }
        var released = 0
        for mapping in files {
            guard let start = unsafe UnsafeMutableRawPointer(bitPattern: mapping.start) else { continue }
            let byteCount = Int(mapping.end - mapping.start)
            if mapping.isCode {
                unsafe mapping.forEachOtherPiece { piece, count in unsafe madvise(piece, count, CInt(MADV_RANDOM)) }
            } else {
                unsafe madvise(start, byteCount, CInt(MADV_RANDOM))
            }
            if mapping.isClean, unsafe madvise(start, byteCount, CInt(MADV_DONTNEED)) == 0 {
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
    private(set) var isPrivateFile = false
    private(set) var isCode = false
    private var isReadOnly = false
    private var ownBytes = 0

    var isClean: Bool { isPrivateFile && isReadOnly && ownBytes == 0 && resident > 0 }

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
        isReadOnly = unsafe strncmp(permissions, " r-", 3) == 0
        isCode = unsafe isReadOnly && permissions[3] == CChar(ascii: "x")
        isPrivateFile = unsafe isPrivate && strtoul(inode, nil, 10) != 0
    }

    private static let pieceBytes: UInt = 128 * 1024

    /// The pieces at even multiples of their size: the same ones whenever it is done.
    func forEachOtherPiece(_ body: (UnsafeMutableRawPointer, Int) -> Void) {
        var place = start
        while place < end {
            let next = min(end, (place / Self.pieceBytes + 1) * Self.pieceBytes)
            if place / Self.pieceBytes % 2 == 0, let piece = unsafe UnsafeMutableRawPointer(bitPattern: place) {
                unsafe body(piece, Int(next - place))
            }
            place = next
        }
    }

    /// Reads `Name:   12 kB`.
    mutating func read(attribute line: UnsafePointer<CChar>) {
        guard isPrivateFile else { return }
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
