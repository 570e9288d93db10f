import Foundation
import Glibc
import LinuxSystem

/// Moves every recording out of the server's reach as soon as it begins, and numbers it.
///
/// nginx-rtmp names a recording by the second in which it begins, so a connection in the same second would overwrite
/// the one before. The server continues to write to its open file, even after the file was renamed.
final class RecordingShelf: Sendable {
    /// The folder in which the server creates its files.
    let incoming: String
    private let shelf: String
    private let events: OwnedDescriptor
    private let watch: CInt
    private let thread: WorkerThread

    init(in folder: TemporaryDirectory) throws {
        let (incoming, shelf) = (folder.file("incoming"), folder.file("rec"))
        (self.incoming, self.shelf) = (incoming, shelf)
        for path in [incoming, shelf] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        events = try OwnedDescriptor(checking: inotify_init1(CInt(IN_CLOEXEC)))
        watch = inotify_add_watch(events.raw, incoming, UInt32(IN_CREATE))
        guard watch >= 0 else { throw Errno.current }
        let descriptor = events.raw
        thread = try WorkerThread(name: "recordings") {
            var count = 0
            Self.forEachCreated(descriptor) { name in
                if rename("\(incoming)/\(name)", "\(shelf)/\(String(count + 1000).dropFirst())-\(name)") == 0 {
                    count += 1
                }
            }
        }
    }

    deinit {
        // The kernel reports that the watch is removed, which ends the thread.
        inotify_rm_watch(events.raw, watch)
        thread.join()
    }

    /// The recordings in the order in which they began.
    var recordings: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: shelf)) ?? []
        return names.filter { $0.hasSuffix(".flv") }.sorted().map { "\(shelf)/\($0)" }
    }

    /// Whether no recording has just begun.
    var isSettled: Bool { (try? FileManager.default.contentsOfDirectory(atPath: incoming))?.isEmpty ?? true }

    /// Calls `body` with the name of each file that is created, until the watch is removed.
    private static func forEachCreated(_ descriptor: CInt, _ body: (String) -> Void) {
        // struct inotify_event: what happened is at byte 4, the length of the name at 12, the name at 16.
        let head = 16
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= head else { return }
            var at = 0
            while at < count {
                let (mask, length) = buffer.withUnsafeBytes {
                    (
                        $0.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self),
                        Int($0.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
                    )
                }
                if mask & UInt32(IN_IGNORED) != 0 { return }
                body(String(decoding: buffer[(at + head)..<(at + head + length)].prefix { $0 != 0 }, as: UTF8.self))
                at += head + length
            }
        }
    }
}
