import Endpoints
import MediaCore
import Testing

@testable import Configuration

@Suite struct MemoryPlanTests {
    /// Every number is another power of ten's multiple, so that none can stand in for another.
    private func costs() -> MemoryCosts {
        var costs = MemoryCosts()
        costs.baseline = 1_000_000
        costs.videoEncoder = 2_000_000
        costs.audioEncoder = 30_000
        costs.canvas = 100
        costs.canvasCount = 4
        costs.ingestBand = 7
        costs.scaler = 11
        costs.pcmQueue = 13
        costs.audioMixer = 17
        costs.packetLogIndex = 19
        costs.sendBuffers = 23
        costs.tlsSession = 29
        costs.controlServer = 41
        costs.threadStack = 43
        costs.threadCount = 5
        costs.reserve = 47
        costs.snapshots = 53
        costs.webhook = 59
        costs.webhookTLS = 61
        return costs
    }

    private func destination(_ url: String, caFile: String? = nil, verify: Bool = true) throws
        -> DestinationConfiguration
    {
        var destination = DestinationConfiguration()
        destination.url = try DestinationURL(url)
        destination.caFile = caFile
        destination.verifyTLS = verify
        return destination
    }

    private func bytes(_ plan: MemoryPlan, _ purpose: MemoryPlan.Purpose) -> Int {
        plan.lines.first { $0.purpose == purpose }!.bytes
    }

    @Test func everyPurposeIsCountedOnce() throws {
        var configuration = Configuration()
        configuration.destinations = [try destination("rtmp://h/a/k"), try destination("rtmps://h/a/k")]
        configuration.webhooks = [WebhookConfiguration(), WebhookConfiguration()]
        configuration.webhooks[0].url = try WebhookURL("https://h/")
        configuration.webhooks[1].url = try WebhookURL("http://h/")
        let plan = MemoryPlan(configuration, costs: costs())
        let expected: [MemoryPlan.Purpose: Int] = [
            .baseline: 1_000_000, .videoEncoder: 2_000_000, .audioEncoder: 30_000, .canvases: 400,
            .ingestBand: 7,
            .scaler: 11, .pcmQueue: 13, .audioMixer: 17, .packetLog: 2_097_152 + 19, .sendBuffers: 23, .tls: 29 + 61,
            .controlServer: 41, .snapshots: 53, .webhooks: 2 * 59, .curtain: 0,
            .threadStacks: 9 * 43, .reserve: 47
        ]
        #expect(plan.lines.map(\.purpose) == MemoryPlan.Purpose.allCases)
        for line in plan.lines { #expect(line.bytes == expected[line.purpose], "\(line.purpose)") }
        #expect(plan.totalBytes == expected.values.reduce(0, +))
        #expect(plan.leftBytes == 52_428_800 - plan.totalBytes)
        #expect(plan.fits && plan.levers.isEmpty)
    }

    /// Its decoder's memory is given back before the encoder and its like take theirs.
    @Test func aCurtainsPictureIsPlannedFor() {
        var configuration = Configuration()
        configuration.privacy.curtainStyle = .picture
        var costs = costs()
        let canvas = costs.canvas
        let later = 2_000_000 + 30_000 + 400 + 13 + 17 + configuration.buffer.maxBytes
        costs.curtainDecoding = later
        #expect(bytes(MemoryPlan(configuration, costs: costs), .curtain) == canvas)
        costs.curtainDecoding = later + 500_000
        #expect(bytes(MemoryPlan(configuration, costs: costs), .curtain) == canvas + 500_000)
        configuration.privacy.curtainStyle = .solid
        #expect(bytes(MemoryPlan(configuration, costs: costs), .curtain) == 0)
    }

    @Test func eachSecureDestinationHasASession() throws {
        var configuration = Configuration()
        configuration.destinations = [
            try destination("rtmp://h/a/k"), try destination("/a.flv"), try destination("rtmps://h/a/k"),
            try destination("rtmps://h/a/k2", verify: false),
        ]
        #expect(bytes(MemoryPlan(configuration, costs: costs()), .tls) == 2 * 29)
    }

    @Test func theCapIsTheLimitItself() {
        var configuration = Configuration()
        var costs = MemoryCosts()
        costs.baseline = configuration.memory.capBytes - configuration.buffer.maxBytes
        #expect(MemoryPlan(configuration, costs: costs).fits)
        costs.reserve = 1
        let plan = MemoryPlan(configuration, costs: costs)
        #expect(!plan.fits && plan.leftBytes == -1)
        configuration.memory.capBytes += 1
        #expect(MemoryPlan(configuration, costs: costs).fits)
    }

    /// 1080p that is 3 MiB too large: what would help is tried, and sorted by what it saves.
    @Test func theWayOutIsConcrete() throws {
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (1920, 1080)
        configuration.video.preset = "veryfast"
        let canvas = { (c: Configuration) in c.video.width * c.video.height * 3 / 2 }
        let frames = ["veryfast": 10, "superfast": 9, "ultrafast": 6, "": 8]
        let plan = MemoryPlan(configuration) { configuration in
            var costs = MemoryCosts()
            costs.videoEncoder = canvas(configuration) * frames[configuration.video.preset]!
            costs.baseline = 52_428_800 + 3 * 1_048_576 - 1920 * 1080 * 3 / 2 * 10 - 2 * 1_048_576
            return costs
        }
        #expect(plan.leftBytes == -3 * 1_048_576)
        #expect(
            plan.levers.map(\.change) == [
                "video.width: 960, video.height: 540", "video.width: 1440, video.height: 810",
                "video.preset: ultrafast", "video.preset: \"\"", "video.preset: superfast",
                "buffer.max_bytes: 1048576",
            ])
        #expect(plan.levers.map(\.isEnough) == [true, true, true, true, false, false])
        #expect(plan.levers[4].savedBytes == 1920 * 1080 * 3 / 2)
        #expect(
            plan.wayOut.hasPrefix(
                "The plan needs 53.00 MiB, 3.00 MiB more than memory.cap_bytes allows. Possible changes:\n"))
        #expect(plan.wayOut.contains("\n  memory.cap_bytes: 53MiB               sufficient, with the best picture"))
        #expect(plan.excess.hasSuffix("memory.cap_bytes: 53MiB suffices"))
        #expect(plan.wayOut.contains("\n  video.preset: superfast               saves   2.97 MiB\n"))
        #expect(plan.wayOut.contains("\n  video.preset: ultrafast               saves  11.87 MiB, sufficient\n"))
    }

    /// Whatever is suggested could be written into the file as it stands: every smaller configuration is a valid one.
    @Test func suggestionsAreValid() throws {
        var configuration = Configuration()
        configuration.destinations = [try destination("rtmps://h/a/k"), try destination("rtmps://h/a/k2")]
        configuration.destinations[1].name = "b"
        configuration.video.threads = 4
        configuration.video.bFrames = 2
        configuration.video.tune = ""
        configuration.video.preset = "medium"
        var film = configuration
        film.video.tune = "film"
        film.video.encoderOptions = ["x264-params": "me=hex"]
        let smaller = [configuration, film].map(MemoryPlan.smallerConfigurations)
        #expect(smaller.map(\.count) == [12, 12])
        for (change, candidate) in smaller.joined() {
            var loader = ConfigurationLoader(path: "")
            loader.configuration = candidate
            loader.checkTogether()
            #expect(loader.problems.isEmpty, "\(change): \(loader.problems)")
        }
    }

    /// A plan without a destination left out what one costs: whoever planned before choosing a server was told too
    /// little.
    @Test func withoutADestinationOneIsPlannedFor() throws {
        var configuration = Configuration()
        let without = MemoryPlan(configuration, costs: costs())
        configuration.destinations = [try destination("rtmp://h/a/k")]
        let with = MemoryPlan(configuration, costs: costs())
        #expect(without.lines.map(\.bytes) == with.lines.map(\.bytes))
        #expect(without.description.contains("1 destination, assumed; none is configured\n"))
    }

    @Test func theTableIsAligned() throws {
        var configuration = Configuration()
        configuration.destinations = [try destination("rtmp://h/a/k")]
        var costs = MemoryCosts()
        costs.baseline = 20 << 20
        costs.videoEncoder = 1
        costs.threadStack = 65_536
        costs.threadCount = 4
        let expected = """
            process and libraries     20.00 MiB  code in use, libraries, runtime; measured
            video encoder              0.01 MiB  libx264 effort normal zerolatency, 1280x720, 2 threads
            audio encoder              0.00 MiB  AAC, 2 channels
            pictures                   0.00 MiB  1 of 1280x720: shown, being filled
            ingest buffer              0.00 MiB  one message being read
            scaler                     0.00 MiB  to 1280x720
            PCM queue                  0.00 MiB  fixed: two of the largest audio messages
            audio mixer                0.00 MiB  audio.max_latency_ms and 1 s of app and microphone
            packet log                 2.00 MiB  buffer.max_bytes and its index
            send buffers               0.00 MiB  1 destination
            TLS                        0.00 MiB  no connection with TLS
            control server             0.00 MiB  HTTP server and its connections
            snapshots                  0.00 MiB  one of at most 640 pixels, as JPEG
            webhooks                   0.00 MiB  none
            curtain                    0.00 MiB  no picture
            thread stacks              0.32 MiB  5 threads, touched pages
            reserve                    0.00 MiB  fragmentation
            -----------------------------------
            planned                   22.32 MiB
            cap                       50.00 MiB  memory.cap_bytes
            left                      27.69 MiB

            """
        #expect(MemoryPlan(configuration, costs: costs).description == expected)
        costs.baseline = 50 << 20
        let tooLarge = MemoryPlan(configuration, costs: costs).description
        #expect(tooLarge.contains("planned                   52.32 MiB  does not fit\n"))
        #expect(tooLarge.contains("too much                   2.32 MiB\n"))
        #expect(
            tooLarge.contains(
                """
                The largest parts are packet log (2.00 MiB), thread stacks (0.32 MiB), video encoder (0.01 MiB). \
                memory.cap_bytes: 53MiB suffices. Raise MemoryMax= of the unit or --memory of the container with the \
                cap.
                """))
    }
}
