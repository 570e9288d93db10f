import Configuration
import Testing

@testable import Pipeline

/// The parts that a broadcast gets so that it fits, and the cap that the plan recommends.
@Suite struct MemoryFitTests {
    @Test(arguments: [(1920, 1080), (1080, 1920), (886, 1918), (2560, 1440)])
    func theCapThatIsAdvisedIsTheSmallestWithSubpixelMotion(width: Int, height: Int) throws {
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (width, height)
        #expect(!configuration.memoryFit.subpixelMotion)
        configuration.memory.capBytes = configuration.memoryPlan.sufficientCapMebibytes << 20
        #expect(configuration.memoryFit.subpixelMotion)
        // Nothing must be given up at once.
        let reserve = MemoryGovernor.reserve(of: configuration.memory.capBytes)
        #expect(configuration.memoryPlan.leftBytes >= reserve)
        configuration.memory.capBytes -= 1 << 20
        #expect(!configuration.memoryFit.subpixelMotion)
    }

    /// The plan also names the cap that is enough without subpixel motion.
    @Test func theWayOutHasBothCaps() {
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (1920, 1080)
        let plan = configuration.memoryPlan
        let least = (plan.totalBytes + (1 << 20) - 1) >> 20
        #expect(!plan.fits && least < plan.sufficientCapMebibytes)
        let lines = plan.wayOut.split(separator: "\n").suffix(3).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "memory.cap_bytes: \(least)MiB sufficient, with about 50 % more bitrate for the same picture",
                "memory.cap_bytes: \(plan.sufficientCapMebibytes)MiB sufficient, with the best picture quality",
                "Raise MemoryMax= of the unit or --memory of the container with the cap.",
            ])
    }

    /// If options hold frames back, the plan offers to remove them.
    @Test func optionsThatTakeMemoryAreOffered() throws {
        var configuration = Configuration()
        configuration.video.encoderOptions = ["rc-lookahead": "30"]
        let plan = configuration.memoryPlan
        #expect(!plan.fits)
        #expect(try #require(plan.levers.first).change == "video.encoder_options: {}")
    }

    @Test func theDefaultHasEverything() {
        #expect(Configuration().memoryFit == MemoryFit(pictures: 3, subpixelMotion: true))
    }

    /// A preset is the user's choice, and keeps its subpixel motion.
    @Test func aPresetIsNotTouched() {
        var configuration = Configuration()
        configuration.video.preset = "veryfast"
        configuration.memory.capBytes = 1
        #expect(configuration.memoryFit == MemoryFit(pictures: 2, subpixelMotion: true))
        #expect(configuration.memoryPlan.compromise == nil)
    }

    /// Each destination is planned for with a packet and the kernel's memory for a socket: 256 and 32 KiB, doubled.
    @Test(arguments: [[], ["rtmp://a/b/c"], ["rtmp://a/b/c", "/a.flv", "rtmps://a/b/c"]])
    func sendBuffersOfAllDestinations(urls: [String]) throws {
        var configuration = Configuration()
        for url in urls {
            var destination = DestinationConfiguration()
            destination.url = try DestinationURL(url)
            configuration.destinations.append(destination)
        }
        let line = try #require(configuration.memoryPlan.lines.first { $0.purpose == .sendBuffers })
        #expect(line.bytes == max(1, urls.count) * (configuration.maximumPacketBytes + 2 * (256 + 32) * 1024))
    }
}
