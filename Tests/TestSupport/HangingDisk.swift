import Foundation
import Glibc
import LinuxSystem

/// A file system of one folder whose disk can hang: after `hang`, it answers no request until `recover`.
///
/// It implements the kernel's FUSE protocol (linux/fuse.h), and keeps its files in memory. Mounting it needs root and
/// /dev/fuse.
package final class HangingDisk: Sendable {
    /// Why it cannot be mounted on this machine; nil if it can.
    package static let unavailable: String? = {
        do {
            _ = try HangingDisk()
            return nil
        } catch {
            return "\(error)"
        }
    }()

    private struct State {
        var files = MemoryFiles()
        var isHanging = false
        var onlyReadingHangs = false
        /// Requests that have no answer yet.
        var held: [[UInt8]] = []
        var isOver = false
    }

    private let folder: TemporaryDirectory
    private let device: CInt
    private let state = Monitor(State())
    private let wakeUp: EventDescriptor
    private let thread: WorkerThread

    package init() throws {
        folder = try TemporaryDirectory("disk")
        wakeUp = try EventDescriptor()
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        guard device >= 0 else { throw TestFailure("cannot open /dev/fuse: \(Errno.current)") }
        let options = "fd=\(device),rootmode=40000,user_id=\(getuid()),group_id=\(getgid())"
        let flags = UInt(MS_NOSUID | MS_NODEV)
        guard mount("upcast-test", folder.path, "fuse", flags, options) == 0 else {
            let error = Errno.current
            close(device)
            throw TestFailure("cannot mount a FUSE file system: \(error)")
        }
        let (device, state, wakeUp) = (device, state, wakeUp)
        thread = try WorkerThread(name: "test-disk") { Self.serve(device, state, wakeUp) }
    }

    deinit {
        state.withLock { $0.isOver = true }
        wakeUp.signal()
        thread.join()
        umount2(folder.path, CInt(MNT_DETACH))
        // The kernel fails all requests that still wait.
        close(device)
    }

    /// The path of `name` on the disk.
    package func file(_ name: String) -> String { folder.file(name) }

    /// The content of a file. Does not ask the disk.
    package func contents(_ name: String) -> String {
        state.withLock { String(decoding: $0.files.contents(name), as: UTF8.self) }
    }

    /// Creates or replaces a file. Does not ask the disk.
    package func put(_ bytes: some Sequence<UInt8>, _ name: String) {
        let bytes = Array(bytes)
        state.withLock { $0.files.put(bytes, name) }
    }

    /// From now on, no request is answered.
    ///
    /// - Parameter onlyReading: whether files can still be opened.
    package func hang(onlyReading: Bool = false) {
        state.withLock { ($0.isHanging, $0.onlyReadingHangs) = (true, onlyReading) }
    }

    /// The number of requests that wait for the disk.
    package var waiting: Int { state.withLock { $0.held.count } }

    /// Answers the waiting requests, and all later ones.
    package func recover() {
        state.withLock { state in
            state.isHanging = false
            for request in state.held { Self.reply(to: request, with: &state.files, on: device) }
            state.held = []
        }
    }

    private static func serve(_ device: CInt, _ state: Monitor<State>, _ wakeUp: EventDescriptor) {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            var sources = [
                pollfd(fd: device, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
            ]
            poll(&sources, 2, -1)
            if state.withLock({ $0.isOver }) { return }
            let count = read(device, &buffer, buffer.count)
            guard count >= MemoryFiles.headBytes else {
                if count < 0, errno == ENODEV { return }
                continue
            }
            let request = Array(buffer[..<count])
            state.withLock { state in
                let mayHang = state.onlyReadingHangs ? MemoryFiles.isRead(request) : MemoryFiles.mayHang(request)
                if state.isHanging, mayHang {
                    state.held.append(request)
                } else {
                    reply(to: request, with: &state.files, on: device)
                }
            }
        }
    }

    private static func reply(to request: [UInt8], with files: inout MemoryFiles, on device: CInt) {
        guard let answer = files.answer(request) else { return }
        _ = write(device, answer, answer.count)
    }
}

/// The files of one folder, with the structs of FUSE (linux/fuse.h), which are little-endian here.
struct MemoryFiles {
    static let headBytes = 40
    private static let root: UInt64 = 1

    private enum Operation: UInt32 {
        case lookUp = 1, forget = 2, getAttributes = 3, setAttributes = 4, unlink = 10, rename = 12, open = 14
        case read = 15, write = 16, statistics = 17, release = 18, sync = 20, flush = 25, initialize = 26
        case openFolder = 27, readFolder = 28, releaseFolder = 29, syncFolder = 30, access = 34, create = 35
        case interrupt = 36, forgetSome = 42
    }

    /// Node numbers are indices here, counted from 2.
    private var files: [(name: String, bytes: [UInt8])] = []

    func contents(_ name: String) -> [UInt8] { files.last { $0.name == name }?.bytes ?? [] }

    mutating func put(_ bytes: [UInt8], _ name: String) {
        if let index = index(name) { files[index].bytes = bytes } else { files.append((name, bytes)) }
    }

    private func index(_ name: String) -> Int? { files.lastIndex { $0.name == name } }

    /// Whether a request may hang. A killed process cannot end before its files are closed, so closing must not hang.
    static func mayHang(_ request: [UInt8]) -> Bool {
        switch Operation(rawValue: UInt32(truncatingIfNeeded: request.number(at: 4, 4))) {
        case .flush, .forget, .forgetSome, .interrupt, .release, .releaseFolder, .initialize: false
        default: true
        }
    }

    static func isRead(_ request: [UInt8]) -> Bool {
        Operation(rawValue: UInt32(truncatingIfNeeded: request.number(at: 4, 4))) == .read
    }

    /// The answer to a request; nil if the kernel expects none.
    mutating func answer(_ request: [UInt8]) -> [UInt8]? {
        let unique = request.number(at: 8, 8)
        let node = request.number(at: 16, 8)
        let body = Array(request[Self.headBytes...])
        let index = Int(node) - 2
        switch Operation(rawValue: UInt32(truncatingIfNeeded: request.number(at: 4, 4))) {
        case .initialize:
            // Version 7.31, no options, 64 KiB for each write.
            var bytes = little(7, 4) + little(31, 4) + little(0, 4) + little(0, 4)
            bytes += little(12, 2) + little(9, 2) + little(65_536, 4) + little(1, 4) + little(0, 4)
            return Self.answer(unique, bytes + [UInt8](repeating: 0, count: 64 - bytes.count))
        case .forget, .forgetSome, .interrupt: return nil
        case .lookUp:
            guard let found = self.index(text(body)) else { return Self.refusal(unique, ENOENT) }
            return Self.answer(unique, entry(found))
        case .create:
            put([], text(Array(body[16...])))
            guard let made = self.index(text(Array(body[16...]))) else { return Self.refusal(unique, EIO) }
            return Self.answer(unique, entry(made) + opened)
        case .getAttributes: return Self.answer(unique, little(0, 16) + attributes(node))
        case .setAttributes:
            let isSize = body.number(at: 0, 4) & 8 != 0
            if isSize, files.indices.contains(index) {
                let size = Int(body.number(at: 16, 8))
                let old = files[index].bytes
                files[index].bytes = old.prefix(size) + [UInt8](repeating: 0, count: max(0, size - old.count))
            }
            return Self.answer(unique, little(0, 16) + attributes(node))
        case .open, .openFolder: return Self.answer(unique, opened)
        case .read:
            let (offset, size) = (Int(body.number(at: 8, 8)), Int(body.number(at: 16, 4)))
            guard files.indices.contains(index) else { return Self.refusal(unique, EIO) }
            return Self.answer(unique, Array(files[index].bytes.dropFirst(offset).prefix(size)))
        case .write:
            let (offset, size) = (Int(body.number(at: 8, 8)), Int(body.number(at: 16, 4)))
            guard files.indices.contains(index) else { return Self.refusal(unique, EIO) }
            let (old, new) = (files[index].bytes, body[40...].prefix(size))
            files[index].bytes =
                old.prefix(offset) + [UInt8](repeating: 0, count: max(0, offset - old.count)) + new
                + old.dropFirst(offset + size)
            return Self.answer(unique, little(UInt64(size), 8))
        case .unlink:
            // The file keeps its number, but not its name.
            if let found = self.index(text(body)) { files[found].name = "" }
            return Self.answer(unique, [])
        case .rename:
            // The number of the new folder, which is always the same, and two names.
            let (old, new) = (text(Array(body[8...])), text(Array(body[8...].drop { $0 != 0 }.dropFirst())))
            guard let moved = self.index(old) else { return Self.refusal(unique, ENOENT) }
            if let replaced = self.index(new) { files[replaced].name = "" }
            files[moved].name = new
            return Self.answer(unique, [])
        case .readFolder, .release, .releaseFolder, .sync, .syncFolder, .access: return Self.answer(unique, [])
        case .statistics: return Self.answer(unique, [UInt8](repeating: 0, count: 80))
        case .flush, nil: return Self.refusal(unique, ENOSYS)
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// Handle 0, without the page cache (FOPEN_DIRECT_IO).
    private var opened: [UInt8] { little(0, 8) + little(1, 4) + little(0, 4) }

    /// Entries are valid for no time, so that the kernel asks each time.
    private func entry(_ index: Int) -> [UInt8] {
        little(UInt64(index + 2), 8) + little(0, 32) + attributes(UInt64(index + 2))
    }

    private func attributes(_ node: UInt64) -> [UInt8] {
        let isFolder = node == Self.root
        let index = Int(node) - 2
        let size = files.indices.contains(index) ? files[index].bytes.count : 0
        var bytes = little(node, 8) + little(UInt64(size), 8) + little(UInt64((size + 511) / 512), 8)
        bytes += little(0, 36)
        bytes += little(UInt64(isFolder ? S_IFDIR | 0o755 : S_IFREG | 0o600), 4) + little(1, 4)
        bytes += little(UInt64(getuid()), 4) + little(UInt64(getgid()), 4)
        return bytes + little(0, 4) + little(4096, 4) + little(0, 4)
    }

    private static func answer(_ unique: UInt64, _ body: [UInt8]) -> [UInt8] {
        little(UInt64(16 + body.count), 4) + little(0, 4) + little(unique, 8) + body
    }

    private static func refusal(_ unique: UInt64, _ error: CInt) -> [UInt8] {
        little(16, 4) + little(UInt64(UInt32(bitPattern: -error)), 4) + little(unique, 8)
    }
}

/// A number in `count` bytes. Bytes after the eighth are zero.
private func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) : 0 }
}

extension [UInt8] {
    fileprivate func number(at offset: Int, _ count: Int) -> UInt64 {
        guard offset + count <= self.count else { return 0 }
        return self[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
