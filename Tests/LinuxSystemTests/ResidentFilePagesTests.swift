import Foundation
import LinuxSystem
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
        let path = NSTemporaryDirectory() + "upcast-pages-\(UUID().uuidString)"
        try Data(repeating: 1, count: Self.size).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
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
}
