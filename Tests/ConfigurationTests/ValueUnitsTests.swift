import ControlProtocol
import MediaCore
import Testing

@testable import Configuration

/// Promise: a number may have a unit, means the same as the plain number of the key, and is never rounded.
@Suite struct ValueUnitsTests {
    @Test(arguments: [
        ("2s", 2000), ("500ms", 500), ("1m30s", 90_000), ("2m", 120_000), ("1h", 3_600_000), ("1h0m1s5ms", 3_601_005),
        ("1.5s", 1500), ("0.25m", 15_000), ("0s", 0), ("1m0.001s", 60_001),
    ])
    func durations(text: String, milliseconds: Int) throws {
        #expect(try ValueUnits.duration.parse(text) == milliseconds)
    }

    @Test(arguments: [
        "", "2", "s", "2x", "2S", "2 s", " 2s", "2s ", "-2s", "+2s", "1s1m", "1s1s", "1m30", "1e3s", ".5s", "1.s",
        "1.2.3s", "0x1s", "\u{0662}s", "2sec", "2min",
    ])
    func noDurations(text: String) throws { #expect(try ValueUnits.duration.parse(text) == nil, "\(text)") }

    @Test(arguments: ["0.5ms", "1.0001s", "9999999999s", "0.1234567891s"]) func noWholeMilliseconds(text: String) {
        #expect(throws: ValueProblem.self, "\(text)") { try ValueUnits.duration.parse(text) }
    }

    @Test(arguments: [("4500k", 4500), ("2.5M", 2500), ("4500K", 4500), ("1M", 1000), ("0.5M", 500)])
    func bitrates(text: String, kilobits: Int) throws { #expect(try ValueUnits.bitrate.parse(text) == kilobits) }

    /// A sum of bitrates, or bits where kilobits are expected, would be a guess.
    @Test(arguments: ["1M500k", "2500000", "4500kbps", "2.5G", "4.5m"]) func noBitrates(text: String) throws {
        #expect(try ValueUnits.bitrate.parse(text) == nil, "\(text)")
    }

    @Test(arguments: [("64KiB", 65_536), ("50MiB", 50 << 20), ("2.5MiB", 2_621_440), ("1GiB", 1 << 30)])
    func sizes(text: String, bytes: Int) throws { #expect(try ValueUnits.bytes.parse(text) == bytes) }

    /// From the file and from a variable; what is shown stays the plain number.
    @Test func everyKeyOfTime() throws {
        for key in ConfigurationTable.keys where key.unit == "ms" {
            // A second is in the range of each.
            let text = Array("\(key.section):\n  \(key.name): 1s\n".utf8)
            let draft = Configuration.draft(text: text, path: "c.yaml", environment: [:])
            #expect(key.render(draft.configuration) == "1000", "\(key.section).\(key.name): \(draft.problems)")
            let variable = Configuration.draft(text: nil, path: "", environment: [key.environmentName(): "1000ms"])
            #expect(key.render(variable.configuration) == "1000", "\(key.section).\(key.name)")
        }
        for key in ConfigurationTable.destinationKeys where key.unit == "ms" {
            var destination = DestinationConfiguration()
            try key.apply("1s", &destination)
            #expect(key.render(destination) == "1000", "\(key.name)")
        }
        for key in ConfigurationTable.webhookKeys where key.unit == "ms" {
            var hook = WebhookConfiguration()
            try key.apply("1s", &hook)
            #expect(key.render(hook) == "1000", "\(key.name)")
        }
    }

    @Test func valuesArrive() throws {
        let text = """
            video: {bitrate_kbps: 1.5M, min_bitrate_kbps: 300k, vbv_ms: 1s}
            audio: {bitrate_kbps: 96k}
            memory: {cap_bytes: 1GiB}
            destinations:
              - {url: rtmp://h/a/k, chunk_size: 4KiB, reconnect_longest_ms: 1m}
              - {name: file, url: /a.flv, rotate_bytes: 1.5GiB}
            """
        let configuration = try Configuration.load(
            text: Array(text.utf8), path: "c.yaml",
            environment: ["UPCAST_BUFFER_DELAY_MS": "1.5s", "UPCAST_BUFFER_MAX_BYTES": "2.5MiB"])
        #expect(configuration.video.bitrate == 1_500_000 && configuration.video.minBitrate == 300_000)
        #expect(configuration.video.vbv == .seconds(1) && configuration.audio.bitrate == 96_000)
        #expect(configuration.memory.capBytes == 1 << 30 && configuration.buffer.maxBytes == 5 << 19)
        #expect(configuration.buffer.delay == .milliseconds(1500))
        #expect(configuration.destinations[0].chunkSize == 4096)
        #expect(configuration.destinations[1].rotateBytes == 3 << 29)
        #expect(configuration.destinations[0].reconnectLongest == .seconds(60))
        #expect("\(configuration.json["video"]!["bitrate_kbps"]!)" == "1500")
        #expect("\(configuration.json["buffer"]!["delay_ms"]!)" == "1500")
    }

    /// Bug: names that look like numbers were numbers in `/config`.
    @Test(arguments: ["1", "null", "true", "1e5", "main"]) func namesStayText(name: String) throws {
        let text = "destinations:\n  - {name: \"\(name)\", url: \"rtmp://h/a/k\"}\n"
        let configuration = try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: [:])
        guard case .array(let destinations)? = configuration.json["destinations"] else {
            Issue.record("no destinations")
            return
        }
        #expect(destinations.first?["name"] == .string(name))
    }
}
