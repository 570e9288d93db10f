import Configuration
import Testing

@testable import Pipeline

/// What a broadcast is given so that it fits, and the cap that the plan advises.
@Suite struct MemoryFitTests {
    @Test(arguments: [(1920, 1080), (1080, 1920), (886, 1918), (2560, 1440)])
    func theCapThatIsAdvisedIsTheSmallestWithSubpixelMotion(width: Int, height: Int) throws {
        var configuration = Configuration()
        (configuration.video.width, configuration.video.height) = (width, height)
        #expect(!configuration.memoryFit.subpixelMotion)
        configuration.memory.capBytes = configuration.memoryPlan.sufficientCapMebibytes << 20
        #expect(configuration.memoryFit.subpixelMotion)
        // Nothing has to be given up at once.
        let reserve = MemoryGovernor.reserve(of: configuration.memory.capBytes)
        #expect(configuration.memoryPlan.leftBytes >= reserve)
        configuration.memory.capBytes -= 1 << 20
        #expect(!configuration.memoryFit.subpixelMotion)
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
}
