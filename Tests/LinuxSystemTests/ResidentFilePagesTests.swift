import CLinux
import Foundation
import LinuxSystem
import TestSupport
import Testing

/// In turn: two of them look at the same library.
@Suite(.serialized) struct ResidentFilePagesTests {
    private static let size = 64 * 4096

    private func map(_ path: String, _ protection: Int32) throws -> UnsafeMutableRawPointer {
        let fd = open(path, O_RDONLY)
        defer { close(fd) }
        let address = mmap(nil, Self.size, protection, Int32(MAP_PRIVATE), fd, 0)
        return try #require(address != MAP_FAILED ? address : nil)
    }

    private func sum(_ address: UnsafeMutableRawPointer) -> Int {
        UnsafeRawBufferPointer(start: address, count: Self.size).reduce(0) { $0 + Int($1) }
    }

    /// Calls `body` with each line of a file of /proc. Foundation takes the first page of it for the whole.
    private func forEachLine(of path: String, _ body: (String) -> Void) throws {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, CInt(line.count), file) != nil {
            body(String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
    }

    /// The resident bytes of the mapping that has this address.
    private func residentBytes(at address: UInt) throws -> Int {
        var (isFound, resident) = (false, 0)
        try forEachLine(of: "/proc/self/smaps") { line in
            let words = line.split { $0 == " " || $0 == "\n" }
            if !words[0].hasSuffix(":") {
                let range = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                isFound = range.count == 2 && range[0] <= address && address < range[1]
            } else if isFound, words[0] == "Rss:" {
                resident = (Int(words[1]) ?? 0) * 1024
            }
        }
        return resident
    }

    /// The resident bytes of code and constants that are mapped from files with this name, without relocated pages.
    private func residentBytes(_ name: String) throws -> Int {
        var (isNamed, resident, own, total) = (false, 0, 0, 0)
        try forEachLine(of: "/proc/self/smaps") { line in
            let words = line.split { $0 == " " || $0 == "\n" }
            switch words[0] {
            case "Rss:": resident = Int(words[1]) ?? 0
            case "Anonymous:": own = Int(words[1]) ?? 0
            case "VmFlags:": total += isNamed && own == 0 ? resident * 1024 : 0
            case let word where !word.hasSuffix(":"): isNamed = words[1].hasPrefix("r-") && line.contains("/\(name)")
            default: break
            }
        }
        return total
    }

    /// Code and constants of a library go, and come back when they are used.
    @Test func cleanPagesOfLibrariesGo() throws {
        // A part of the C library that nothing else here uses.
        let library = try #require(dlopen("libthread_db.so.1", RTLD_LAZY))
        defer { dlclose(library) }
        typealias SymbolList = @convention(c) () -> UnsafePointer<UnsafePointer<CChar>?>?
        let symbol = try #require(dlsym(library, "td_symbol_list"))
        let names = unsafeBitCast(symbol, to: SymbolList.self)
        let first = names()?.pointee.map { String(cString: $0) }
        #expect(first != nil)
        // Only where the code is, and where the text is. Whoever lists the loaded objects, as other tests do at the
        // same time, reads the headers of all of them.
        let places = [UInt(bitPattern: symbol), UInt(bitPattern: names()?.pointee)]
        func resident() throws -> [Int] { try places.map { try residentBytes(at: $0) } }
        // Other tests may also call it at the same time.
        var before = [0, 0]
        for _ in 0..<50 where before.contains(0) {
            #expect(names()?.pointee.map { String(cString: $0) } == first)
            before = try resident()
        }
        #expect(!before.contains(0))
        #expect(ProcessMemory.releaseFilePages() > 0)
        #expect(try resident() == [0, 0])
        #expect(names()?.pointee.map { String(cString: $0) } == first)
    }

    /// Mapped files that are not libraries keep their pages: another thread can unmap them at any time, and a library
    /// can take their place. Pages that were written before they were made read-only have no other copy.
    @Test func otherFilesStay() throws {
        let folder = try TemporaryDirectory("pages")
        let path = folder.file("pages")
        let name = "\(URL(filePath: folder.path).lastPathComponent)/pages"
        try Data(repeating: 1, count: Self.size).write(to: URL(filePath: path))
        let clean = try map(path, PROT_READ)
        let written = try map(path, PROT_READ | PROT_WRITE)
        defer {
            munmap(clean, Self.size)
            munmap(written, Self.size)
        }
        #expect(sum(clean) == Self.size)
        for page in stride(from: 0, to: Self.size, by: 4096) {
            written.storeBytes(of: 7, toByteOffset: page, as: UInt8.self)
        }
        #expect(mprotect(written, Self.size, PROT_READ) == 0)
        ProcessMemory.releaseFilePages()
        #expect(try residentBytes(name) == Self.size)
        #expect(sum(written) == Self.size + 6 * (Self.size / 4096))
    }

    /// Where one library was, another one can have its relocated pages by the time that pages are discarded. A range
    /// that is not code or constants of one segment of a loaded library is refused.
    @Test func onlyConstantsAreDiscarded() throws {
        let library = try #require(dlopen("libthread_db.so.1", RTLD_LAZY))
        defer { dlclose(library) }
        var ranges: [(start: UInt, end: UInt, isWritable: Bool)] = []
        try forEachLine(of: "/proc/self/maps") { line in
            let words = line.split(separator: " ")
            let range = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard line.contains("/libthread_db"), range.count == 2 else { return }
            ranges.append((range[0], range[1], words[1].hasPrefix("rw")))
        }
        // Headers, code and constants come first, relocated pages and variables last.
        let variables = ranges.firstIndex { $0.isWritable } ?? 0
        try #require(variables > 1)
        let (constants, relocated) = (ranges[0], ranges[variables - 1])
        let wishes = [
            (constants.start, constants.end), (relocated.start, relocated.end),
            (ranges[variables].start, ranges[variables].end), (constants.start, relocated.end),
        ]
        var discards = wishes.map { upcast_range(start: $0, end: $1, is_discarded: 1) }
        upcast_discard_constants(&discards, UInt(discards.count))
        #expect(discards.map(\.is_discarded) == [1, 0, 0, 0])
    }

    /// Code is cut into pieces, so that a kernel that reads ahead in code whatever it is told stops at their ends;
    /// doing it again changes nothing.
    @Test func codeIsReadInSmallPieces() throws {
        let folder = try TemporaryDirectory("code")
        // The kernel may print another path.
        let (path, name) = (folder.file("code"), "\(URL(filePath: folder.path).lastPathComponent)/code")
        try Data(repeating: 1, count: 1 << 20).write(to: URL(filePath: path))
        let fd = open(path, O_RDONLY)
        defer { close(fd) }
        let code = try #require(mmap(nil, 1 << 20, PROT_READ | PROT_EXEC, Int32(MAP_PRIVATE), fd, 0))
        try #require(code != MAP_FAILED)
        defer { munmap(code, 1 << 20) }
        func pieces() throws -> Int {
            var count = 0
            try forEachLine(of: "/proc/self/maps") { count += $0.contains(name) ? 1 : 0 }
            return count
        }
        for _ in 0..<2 {
            ProcessMemory.releaseFilePages()
            let count = try pieces()
            #expect((8...9).contains(count), "\(count) pieces")
        }
    }
}
