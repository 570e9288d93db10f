import Foundation
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import CLinux

/// Memory of another process is taken only where nothing that the other does later can hurt.
@Suite struct SharedMemoryTests {
    private enum Seal: CInt, CaseIterable {
        case shrink = 2
        case grow = 4
        case futureWrite = 16
        static let write: CInt = 8
        static let add: CInt = 1033
    }

    /// A memfd of two pages, as `change` leaves it.
    private func memory(written: Bool = true, seals: [CInt] = Seal.allCases.map(\.rawValue)) throws -> OwnedDescriptor {
        let descriptor = try OwnedDescriptor(checking: upcast_memfd_create("test"))
        try #require(ftruncate(descriptor.raw, 8192) == 0)
        if written {
            let bytes = [UInt8](repeating: 7, count: 8192)
            try #require(pwrite(descriptor.raw, bytes, 8192, 0) == 8192)
        }
        try #require(fcntl(descriptor.raw, Seal.add, seals.reduce(0, |)) == 0)
        return descriptor
    }

    @Test func readsWhatIsWrittenLater() throws {
        let offered = try OfferedMemory(name: "test", byteCount: 5000)
        #expect(offered.byteCount == 8192)
        var pair: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let ours = OwnedDescriptor(pair[0])
        let theirs = OwnedDescriptor(pair[1])
        let sent = try [UInt8(1), 2, 3].withUnsafeBytes { try offered.send(with: $0, to: ours.raw) }
        #expect(sent == 3)
        var bytes = [UInt8](repeating: 0, count: 8)
        var raw = [CInt](repeating: -1, count: Int(UPCAST_MAX_DESCRIPTORS))
        var found: CInt = 0
        #expect(upcast_receive_with_descriptors(theirs.raw, &bytes, 8, &raw, &found) == 3)
        #expect(found == 1)
        let received = try OwnedDescriptor(checking: raw[0])
        let memory = try SharedMemory(mapping: received.raw, byteCount: 8192)
        withExtendedLifetime(offered) { offered.bytes[8191] = 42 }
        #expect(read(memory, 8190..<8192) == [0, 42])
        offered.setWord(at: 64, to: 1 << 63 | 5)
        #expect(memory.word(at: 64) == UInt64(1) << 63 | 5)
        // Vector code reads beyond a row's end.
        withExtendedLifetime(memory) {
            let behind = UnsafeRawBufferPointer(start: memory.bytes(8192..<8192).baseAddress, count: 4096)
            #expect(behind.allSatisfy { $0 == 0 })
        }
    }

    @Test(arguments: Seal.allCases.map(\.rawValue)) func everySealIsNeeded(missing: CInt) throws {
        let descriptor = try memory(seals: Seal.allCases.map(\.rawValue).filter { $0 != missing })
        #expect(throws: SharedMemory.Refusal.notSealed) { try take(descriptor, 8192) }
    }

    @Test func whatNobodyCanWriteToIsAsGood() throws {
        let descriptor = try memory(seals: [Seal.shrink.rawValue, Seal.grow.rawValue, Seal.write])
        #expect(read(try take(descriptor, 8192), 0..<2) == [7, 7])
    }

    @Test func sealedMemoryCannotBeTakenFromUnderUs() throws {
        let descriptor = try memory()
        let raw = descriptor.raw
        #expect(ftruncate(raw, 0) == -1 && errno == EPERM)
        let memory = try take(descriptor, 8192)
        #expect(read(memory, 4096..<4097) == [7])
        // Nor can its owner punch a hole into it, through the mapping that it may still write to.
        let offered = try OfferedMemory(name: "test", byteCount: 8192)
        withExtendedLifetime(offered) {
            #expect(madvise(offered.bytes.baseAddress, 4096, MADV_REMOVE) == -1 && errno == EPERM)
        }
    }

    @Test func otherFilesAreRefused() throws {
        let folder = try TemporaryDirectory("shared")
        let path = folder.file("bytes")
        try Data(repeating: 1, count: 8192).write(to: URL(filePath: path))
        let file = try OwnedDescriptor(checking: open(path, O_RDWR | O_CLOEXEC))
        #expect(throws: SharedMemory.Refusal.notSealed) { try take(file, 8192) }
        let null = try OwnedDescriptor(checking: open("/dev/null", O_RDWR | O_CLOEXEC))
        #expect(throws: SharedMemory.Refusal.notSealed) { try take(null, 8192) }
    }

    @Test(arguments: [0, 1, 8191, 8193, 1 << 40, -1]) func theSizeMustBeTrue(announced: Int) throws {
        let descriptor = try memory()
        #expect(throws: SharedMemory.Refusal.wrongSize(announced: announced, real: 8192)) {
            try take(descriptor, announced)
        }
    }

    /// Reading a page that was never written would make it, and on our account.
    @Test func pagesMustExist() throws {
        let descriptor = try memory(written: false)
        #expect(throws: SharedMemory.Refusal.hasHoles(at: 0)) { try take(descriptor, 8192) }
    }

    private func read(_ memory: SharedMemory, _ range: Range<Int>) -> [UInt8] {
        withExtendedLifetime(memory) { Array(memory.bytes(range)) }
    }

    private func take(_ descriptor: borrowing OwnedDescriptor, _ byteCount: Int) throws -> SharedMemory {
        try SharedMemory(mapping: descriptor.raw, byteCount: byteCount)
    }
}
