import Foundation
import Glibc
import LinuxSystem
package import MediaCore

/// Records when every packet arrived at a server, by following FLV files while the server writes them.
///
/// For a server that writes tags at once (nginx-rtmp, `ffmpeg -flush_packets 1`), times are exact to some 10 ms.
package final class ArrivalLog: Sendable {
    package struct Arrival: Sendable {
        /// Monotonic clock.
        package let time: MediaTime
        /// The timestamp in the recording. Servers begin at zero with each connection.
        package let timestamp: MediaTime

        package init(time: MediaTime, timestamp: MediaTime) { (self.time, self.timestamp) = (time, timestamp) }
    }
    /// One file, which is one connection.
    package struct Segment: Sendable {
        package let path: String
        /// Frames, without headers.
        package fileprivate(set) var video: [Arrival] = []
        package fileprivate(set) var audioPackets = 0
        /// Bytes up to the end of the last whole tag.
        package fileprivate(set) var wholeBytes = 0

        package init(path: String, video: [Arrival] = []) { (self.path, self.video) = (path, video) }
    }

    private let segments = Monitor<[Segment]>([])
    private let isStopping = Monitor(false)
    private let thread: WorkerThread

    /// - Parameter files: returns the recordings so far.
    package init(_ files: @escaping @Sendable () -> [String]) throws {
        let (segments, isStopping) = (segments, isStopping)
        thread = try WorkerThread(name: "arrivals", stackBytes: 1 << 20) {
            repeat {
                for path in files() {
                    let known = segments.withLock { all in all.first { $0.path == path } } ?? Segment(path: path)
                    guard let grown = Self.follow(known) else { continue }
                    segments.signal { all in
                        if let index = all.firstIndex(where: { $0.path == path }) {
                            all[index] = grown
                        } else {
                            all.append(grown)
                        }
                    }
                }
            } while isStopping.wait(until: MonotonicClock().now() + .milliseconds(10), { $0 ? true : nil }) == nil
        }
    }

    deinit {
        isStopping.signal { $0 = true }
        thread.join()
    }

    /// The segments that contain a frame, oldest first.
    package var all: [Segment] { segments.withLock { $0.filter { !$0.video.isEmpty } } }

    /// The arrival of the first frame at or after `time`; nil if none comes within `seconds`.
    package func firstFrame(since time: MediaTime, within seconds: Double) -> MediaTime? {
        segments.wait(until: MonotonicClock().now() + .milliseconds(Int64(seconds * 1000))) { all in
            all.flatMap(\.video).map(\.time).filter { $0 >= time }.min()
        }
    }

    /// Reads what was added to a file since the last look; nil for nothing.
    private static func follow(_ known: Segment) -> Segment? {
        guard let file = FileHandle(forReadingAtPath: known.path) else { return nil }
        defer { try? file.close() }
        let start = max(known.wholeBytes, 13)
        guard (try? file.seek(toOffset: UInt64(start))) != nil, let data = try? file.readToEnd(), !data.isEmpty else {
            return nil
        }
        let bytes = [UInt8](data)
        let now = MonotonicClock().now()
        var segment = known
        var at = 0
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        while at + 11 <= bytes.count {
            let size = number(at + 1, 3)
            guard at + 11 + size + 4 <= bytes.count else { break }
            let timestamp = MediaTime.milliseconds(Int64(number(at + 4, 3) | Int(bytes[at + 7]) << 24))
            switch bytes[at] {
            case 9 where size > 5 && bytes[at + 12] == 1:
                segment.video.append(Arrival(time: now, timestamp: timestamp))
            case 8 where size > 2 && bytes[at + 12] == 1: segment.audioPackets += 1
            default: break
            }
            at += 11 + size + 4
        }
        guard at > 0 else { return nil }
        segment.wholeBytes = start + at
        return segment
    }
}
