import Foundation
import LinuxSystem
import TestSupport
import Testing

@Suite struct ResidentFilePagesTests {
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

    /// Read-only pages go and come back; pages that were written before they were made read-only, as the dynamic linker
    /// does with relocations, have no other copy and must stay.
    @Test func cleanPagesGoAndOwnPagesStay() throws {
        let folder = try TemporaryDirectory("pages")
        let path = folder.file("pages")
        try Data(repeating: 1, count: Self.size).write(to: URL(filePath: path))
        let clean = try map(path, PROT_READ)
        let relocated = try map(path, PROT_READ | PROT_WRITE)
        defer {
            munmap(clean, Self.size)
            munmap(relocated, Self.size)
        }
        #expect(sum(clean) == Self.size)
        for page in stride(from: 0, to: Self.size, by: 4096) {
            relocated.storeBytes(of: 7, toByteOffset: page, as: UInt8.self)
        }
        #expect(mprotect(relocated, Self.size, PROT_READ) == 0)

        #expect(ProcessMemory.releaseFilePages() >= Self.size)
        #expect(sum(clean) == Self.size)
        #expect(sum(relocated) == Self.size + 6 * (Self.size / 4096))
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
            // Foundation takes the first page of it for the whole.
            let maps = try #require(fopen("/proc/self/maps", "r"))
            defer { fclose(maps) }
            var line = [CChar](repeating: 0, count: 4096)
            var count = 0
            while fgets(&line, CInt(line.count), maps) != nil { count += strstr(line, name) == nil ? 0 : 1 }
            return count
        }
        for _ in 0..<2 {
            ProcessMemory.releaseFilePages()
            let count = try pieces()
            #expect((8...9).contains(count), "\(count) pieces")
        }
    }
}
