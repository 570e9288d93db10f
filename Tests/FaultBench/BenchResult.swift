import Foundation
import MediaCore
import TestSupport

/// What one case showed, and which promises it broke.
struct BenchResult {
    /// Latency is to be back to normal as long after the link's return, or the new connection's first frame.
    private static let lateFor = MediaTime.seconds(2)
    private static let fullBitrateWithin = MediaTime.seconds(60)

    let test: FaultCase
    var drops: [String: Int] = [:]
    var failures: [String: Int] = [:]
    var connects = 0
    var planBytes = 0
    var capBytes = 0
    /// The most memory at any look that the kernel could not reclaim.
    var neededBytes = 0
    var decodingErrors: [String] = []
    var log = ""
    /// From the link's return until the encoder is asked for four fifths of the bitrate again; nil for never.
    var fullBitrate: MediaTime?
    /// Promises that were not kept.
    var broken: [String] = []

    private(set) var segments = 0
    private(set) var lateness = Lateness([], linkBack: .zero, ended: .zero)
    /// The longest time between two frames that follow each other, on the timeline or on the wall.
    private(set) var longestGap = MediaTime.zero
    /// From the client's end to the last frame's arrival.
    private(set) var endLag = MediaTime.zero

    init(test: FaultCase) { self.test = test }

    mutating func note(_ all: [ArrivalLog.Segment], linkBack: MediaTime, ended: MediaTime) {
        segments = all.count
        let frames = all.flatMap(\.video).map(\.time).sorted()
        longestGap = zip(frames, frames.dropFirst()).map { $1 - $0 }.max() ?? .zero
        for segment in all {
            let times = segment.video.map(\.timestamp)
            longestGap = max(longestGap, zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero)
        }
        lateness = Lateness(all, linkBack: linkBack, ended: ended)
        endLag = (frames.last ?? .zero) - ended
    }

    mutating func judge() {
        func promise(_ isKept: Bool, _ otherwise: String) { if !isKept { broken.append(otherwise) } }
        promise(lateness.recovery != nil, "no timely frame came after the link's return")
        promise(endLag > .seconds(-1), "the last frame came \(MediaTime.zero - endLag) before the client's end")
        promise(endLag < .seconds(1), "the last frame came \(endLag) after the client's end")
        promise(fullBitrate ?? .seconds(99) <= Self.fullBitrateWithin, "the bitrate did not come back")
        promise(lateness.backlog <= Self.lateFor, "frames were still late \(lateness.backlog) after the return")
        promise(
            lateness.laterLateFrames * 20 <= lateness.laterFrames,
            "\(lateness.laterLateFrames) of \(lateness.laterFrames) frames were late again afterwards")
        // What a busy machine delays arrives together.
        promise(lateness.laterLateness <= .seconds(1), "frames were late again for \(lateness.laterLateness)")
        promise(!test.mustReconnect || segments > 1, "there was no second connection")
        promise(!test.mustDecode || decodingErrors.isEmpty, "a recording does not decode: \(decodingErrors)")
        promise(neededBytes <= capBytes, "more memory was needed than the cap allows")
        promise(longestGap <= test.maximumGap, "\(longestGap) without a frame")
    }

    static let header =
        pad("case", 16) + pad("recovers", 9) + pad("back in", 9) + pad("late for", 9) + pad("bitrate", 9)
        + pad("gap", 9)
        + pad("segments", 9) + pad("decode", 7) + pad("MiB of plan", 13) + "drops; failures"

    var row: String {
        func seconds(_ time: MediaTime) -> String { String(format: "%.2f s", time.secondsAsDouble) }
        func list(_ counters: [String: Int]) -> String {
            counters.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        let lost = [list(drops), list(failures)].map { $0.isEmpty ? "none" : $0 }.joined(separator: "; ")
        let memory = String(format: "%.1f of %.1f", Double(neededBytes) / 1_048_576, Double(planBytes) / 1_048_576)
        return Self.pad(test.name, 16) + Self.pad(lateness.recovery == nil ? "NO" : "yes", 9)
            + Self.pad(lateness.recovery.map(seconds) ?? "-", 9) + Self.pad(seconds(lateness.backlog), 9)
            + Self.pad(fullBitrate.map(seconds) ?? "NO", 9) + Self.pad(seconds(longestGap), 9)
            + Self.pad("\(segments)", 9) + Self.pad(decodingErrors.isEmpty ? "all" : "NO", 7) + Self.pad(memory, 13)
            + lost
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
