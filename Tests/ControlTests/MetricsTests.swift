import ControlProtocol
import Foundation
import Testing

@testable import Control

/// The text that Prometheus scrapes: well-formed, complete, and true to the report.
@Suite struct MetricsTests {
    private let text = MetricsText.text(.full)
    private var lines: [Substring] { text.split(separator: "\n") }

    @Test func everyLineIsWellFormed() throws {
        let value = #""[^"\\\n]*(\\.[^"\\\n]*)*""#
        let labels = "(\\{[a-z]+=\(value)(,[a-z]+=\(value))*\\})?"
        let sample = try Regex("(upcast|process)_[a-z_]+\(labels) -?[0-9.e+-]+")
        let comment = /# (HELP (upcast|process)_[a-z_]+ .+|TYPE (upcast|process)_[a-z_]+ (gauge|counter|histogram))/
        for line in lines {
            #expect(line.wholeMatch(of: sample) != nil || line.wholeMatch(of: comment) != nil, "\(line)")
        }
        #expect(text.hasSuffix("\n"))
    }

    /// Counters end in _total, and nothing else does; every sample has a TYPE before it, and none is there twice.
    @Test func namesFollowTheConventions() {
        var types: [String: String] = [:]
        var seen: Set<Substring> = []
        for line in lines {
            let words = line.split(separator: " ")
            if words[0] == "#" {
                if words[1] == "TYPE" {
                    #expect(types[String(words[2])] == nil)
                    types[String(words[2])] = String(words[3])
                }
                continue
            }
            let name = String(line.prefix { $0 != "{" && $0 != " " })
            let family = ["_bucket", "_sum", "_count"].reduce(name) { name, suffix in
                types[name] == nil && name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
            }
            #expect(types[family] != nil, "\(line)")
            #expect((types[family] == "counter") == family.hasSuffix("_total"), "\(line)")
            #expect(seen.insert(line.prefix { $0 != " " }).inserted, "\(line) is there twice")
        }
    }

    /// The example with which alerts and dashboard are checked has the same families.
    @Test func theExampleNamesWhatThereIs() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../scripts/share/monitoring/metrics.txt")
        let example = try String(contentsOf: file.standardized, encoding: .utf8)
        func families(_ text: String) -> [String] {
            text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map(String.init).sorted()
        }
        #expect(families(text) == families(example))
    }

    /// One that is there only once it is needed cannot be alerted on.
    @Test func everyStepOfTheGovernorIsThere() {
        let idle = MetricsText.text(StatusReport())
        for step in StatusReport.memorySteps {
            #expect(idle.contains("upcast_memory_given_up_bytes{step=\"\(step)\"} 0\n"))
        }
        #expect(lines.contains("upcast_memory_given_up_bytes{step=\"half_log\"} 1048576"))
    }

    @Test func valuesAreThoseOfTheReport() {
        #expect(lines.contains("upcast_video_target_bytes_per_second 312500"))
        #expect(lines.contains("upcast_state{state=\"live\"} 1"))
        #expect(lines.contains("upcast_state{state=\"idle\"} 0"))
        #expect(lines.contains("upcast_uptime_seconds 3720"))
        for (result, count) in [("delivered", 41), ("failed", 2), ("dropped", 3)] {
            #expect(
                lines.contains("upcast_webhook_deliveries_total{hook=\"hook\",result=\"\(result)\"} \(count)"))
        }
        #expect(lines.contains("upcast_webhook_queue{hook=\"hook\"} 1"))
        #expect(lines.contains("upcast_video_frames_received_total 21690"))
        #expect(lines.contains("upcast_audio_blocks_received_total{source=\"app\"} 33893"))
    }

    @Test func labelsAreEscaped() {
        var report = StatusReport()
        var destination = DestinationStatus()
        destination.name = "a\"b\\c\nd"
        report.destinations = [destination]
        #expect(MetricsText.text(report).contains("{destination=\"a\\\"b\\\\c\\nd\"} 0\n"))
    }

    @Test func countersGoOnAfterABroadcast() throws {
        var first = StatusReport()
        first.video.framesReceived = 10
        first.drops = [Counter("video_superseded", 2)]
        var destination = DestinationStatus()
        (destination.name, destination.bytesSent, destination.lagMilliseconds) = ("main", 1000, 30)
        destination.failures = [Counter("connect", 1)]
        first.destinations = [destination]
        var totals = StatusReport()
        totals.note(ended: first)
        totals.note(ended: first)
        var running = first
        running.add(totals)
        #expect(running.video.framesReceived == 30)
        #expect(running.drops == [Counter("video_superseded", 6)])
        #expect(running.destinations.map(\.bytesSent) == [3000])
        #expect(running.destinations[0].failures == [Counter("connect", 3)])
        #expect(running.destinations[0].lagMilliseconds == 30)
        // Between broadcasts the last one's destinations are still in the status; what they counted is in the totals.
        var idle = first.gaugesOnly
        idle.add(totals)
        #expect(idle.destinations.map(\.bytesSent) == [2000])
    }
}
