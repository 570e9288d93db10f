import Foundation
import MediaCore
import TestSupport

/// What one case showed, and which promises it broke.
struct BenchResult {
    /// A packet that comes this much later than the quickest of its connection is late.
    private static let lateAfter = MediaTime.milliseconds(300)
    /// Latency is to be back to normal as long after the link's return, or the new connection's first frame.
    private static let lateFor = MediaTime.seconds(2)
    private static let fullBitrateWithin = MediaTime.seconds(60)

    let test: FaultCase
    var drops: [String: Int] = [:]
    var failures: [String: Int] = [:]
    var connects = 0
    var planBytes = 0
    var capBytes = 0
    var peakBytes = 0
    var decodingErrors: [String] = []
    var log = ""
    /// From the link's return until the encoder is asked for four fifths of the bitrate again; nil for never.
    var fullBitrate: MediaTime?
    /// Promises that were not kept.
    var broken: [String] = []

    private(set) var segments = 0
    /// From the link's return to the first frame at the server that is not late; nil for never.
    private(set) var recovery: MediaTime?
    /// From the first frame after the link's return to the last late one.
    private(set) var late = MediaTime.zero
    /// The longest time between two frames that follow each other, on the timeline or on the wall.
    private(set) var longestGap = MediaTime.zero
    /// From the client's end to the last frame's arrival.
    private(set) var endLag = MediaTime.zero

    init(test: FaultCase) { self.test = test }

    mutating func note(_ all: [ArrivalLog.Segment], linkBack: MediaTime, ended: MediaTime) {
        segments = all.count
        let frames = all.flatMap(\.video).map(\.time).sorted()
        longestGap = zip(frames, frames.dropFirst()).map { $1 - $0 }.max() ?? .zero
        let resumed = frames.first { $0 >= linkBack } ?? ended
        for segment in all {
            let times = segment.video.map(\.timestamp)
            longestGap = max(longestGap, zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero)
            // How late a frame is shows against the quickest of its connection.
            let normal = segment.video.map { $0.time - $0.timestamp }.min() ?? .zero
            for frame in segment.video where frame.time >= linkBack && frame.time < ended {
                if frame.time - frame.timestamp - normal > Self.lateAfter {
                    late = max(late, frame.time - resumed)
                } else {
                    recovery = min(recovery ?? .seconds(3600), frame.time - linkBack)
                }
            }
        }
        endLag = (frames.last ?? .zero) - ended
    }

    mutating func judge() {
        func promise(_ isKept: Bool, _ otherwise: String) { if !isKept { broken.append(otherwise) } }
        promise(recovery != nil, "no timely frame came after the link's return")
        promise(endLag > .seconds(-1), "the last frame came \(MediaTime.zero - endLag) before the client's end")
        promise(endLag < .seconds(1), "the last frame came \(endLag) after the client's end")
        promise(fullBitrate ?? .seconds(99) <= Self.fullBitrateWithin, "the bitrate did not come back")
        promise(late <= Self.lateFor, "frames were still late \(late) after the return")
        promise(!test.mustReconnect || segments > 1, "there was no second connection")
        promise(!test.mustDecode || decodingErrors.isEmpty, "a recording does not decode: \(decodingErrors)")
        promise(peakBytes <= capBytes, "memory peaked above the cap")
        promise(longestGap <= test.maximumGap, "\(longestGap) without a frame")
    }

    static let header =
        pad("case", 16) + pad("recovers", 9) + pad("back in", 9) + pad("late for", 9) + pad("bitrate", 9)
        + pad("gap", 9)
        + pad("segments", 9) + pad("decode", 7) + pad("MB of plan", 13) + "drops; failures"

    var row: String {
        func seconds(_ time: MediaTime) -> String { String(format: "%.2f s", time.secondsAsDouble) }
        func list(_ counters: [String: Int]) -> String {
            counters.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        let lost = [list(drops), list(failures)].map { $0.isEmpty ? "none" : $0 }.joined(separator: "; ")
        let memory = String(format: "%.1f of %.1f", Double(peakBytes) / 1e6, Double(planBytes) / 1e6)
        return Self.pad(test.name, 16) + Self.pad(recovery == nil ? "NO" : "yes", 9)
            + Self.pad(recovery.map(seconds) ?? "-", 9) + Self.pad(seconds(late), 9)
            + Self.pad(fullBitrate.map(seconds) ?? "NO", 9) + Self.pad(seconds(longestGap), 9)
            + Self.pad("\(segments)", 9) + Self.pad(decodingErrors.isEmpty ? "all" : "NO", 7) + Self.pad(memory, 13)
            + lost
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
