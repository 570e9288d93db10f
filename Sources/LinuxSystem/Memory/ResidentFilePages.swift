internal import CLinux
internal import Glibc

extension ProcessMemory {
    /// Removes clean pages of code and constants of the executable and its libraries from the resident set, and
    /// returns their size in bytes. A page that is used again comes back from the page cache with a minor fault.
    ///
    /// libavcodec loads a hundred libraries, and the dynamic linker touches pages of all of them: 12 MiB that are never
    /// used again. Call this when everything is loaded and set up; it takes some ten milliseconds. Without /proc it
    /// does nothing. Any thread.
    ///
    /// It only discards mappings that are not writable and have no private pages. A relocated page that was made
    /// read-only (RELRO) has no other copy; it shows up as `Anonymous` in memory, or as `Swap`.
    ///
    /// Other threads may load and unload libraries meanwhile, so that another library lies where a listed one was. Its
    /// relocated pages would be lost. `upcast_discard_constants` therefore checks that the range is constants of a
    /// loaded object, while the dynamic linker unmaps nothing. Other mapped files stay as they are.
    ///
    /// It also sets MADV_RANDOM, so that the kernel then reads only the requested pages. By default the kernel reads
    /// around them, up to the disk's read-ahead of 128 KiB or even 8 MiB. In a memory cgroup that is nearly full, each
    /// such read evicts the pages that are needed next, and the daemon only reads its own code. Linux 6.18 reads ahead
    /// in mapped code even with this advice, but not beyond a mapping. Therefore code is advised in every other 128
    /// KiB, which splits it into many small mappings.
    ///
    /// The C library reads the lines: there are 15,000, and in a debug build Swift strings take most of a second.
    @discardableResult package static func releaseFilePages() -> Int {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return 0 }
        defer { unsafe fclose(file) }
        // Collect first and release afterwards: the kernel walks all mappings again for each read.
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
        for mapping in files {
            guard let start = unsafe UnsafeMutableRawPointer(bitPattern: mapping.start) else { continue }
            let byteCount = Int(mapping.end - mapping.start)
            if mapping.isCode {
                unsafe mapping.forEachOtherPiece { piece, count in unsafe madvise(piece, count, CInt(MADV_RANDOM)) }
            } else {
                unsafe madvise(start, byteCount, CInt(MADV_RANDOM))
            }
        }
        let clean = files.filter(\.isClean)
        var ranges = clean.map { upcast_range(start: $0.start, end: $0.end, is_discarded: 0) }
        unsafe upcast_discard_constants(&ranges, UInt(ranges.count))
        return zip(clean, ranges).reduce(0) { $0 + ($1.1.is_discarded != 0 ? $1.0.resident : 0) }
    }
}

/// A mapping in `/proc/self/smaps`; see proc(5).
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

    /// Parses `start-end perms offset device inode path`. All numbers but the inode are hexadecimal. Returns nil for
    /// other lines, which begin with a capital letter.
    init?(header line: UnsafePointer<CChar>) {
        guard unsafe isupper(CInt(line[0])) == 0 else { return nil }
        var rest: UnsafeMutablePointer<CChar>?
        start = unsafe strtoul(line, &rest, 16)
        guard let dash = unsafe rest, unsafe dash[0] == CChar(ascii: "-") else { return nil }
        end = unsafe strtoul(dash + 1, &rest, 16)
        guard start < end, let permissions = unsafe rest, unsafe strlen(permissions) > 6 else { return nil }
        unsafe strtoul(permissions + 6, &rest, 16)
        // After the offset and the two numbers of the device.
        guard let device = unsafe rest, let inode = unsafe strchr(device + 1, CInt(ascii: " ")) else { return nil }
        let isPrivate = unsafe permissions[4] == CChar(ascii: "p")
        isReadOnly = unsafe strncmp(permissions, " r-", 3) == 0
        isCode = unsafe isReadOnly && permissions[3] == CChar(ascii: "x")
        isPrivateFile = unsafe isPrivate && strtoul(inode, nil, 10) != 0
    }

    private static let pieceBytes: UInt = 128 * 1024

    /// The pieces at even multiples of their size, so that repeated calls select the same ones.
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

    /// Parses `Name:   12 kB`.
    mutating func read(attribute line: UnsafePointer<CChar>) {
        guard isPrivateFile else { return }
        if let bytes = unsafe Self.value(of: "Rss:", in: line) { resident = bytes }
        if let bytes = unsafe Self.value(of: "Anonymous:", in: line) { ownBytes += bytes }
        if let bytes = unsafe Self.value(of: "Swap:", in: line) { ownBytes += bytes }
    }

    /// An unreadable value counts as 1, so that the mapping is not clean.
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
