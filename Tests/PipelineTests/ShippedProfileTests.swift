import Configuration
import Foundation
import Pipeline
import Testing

/// The profiles in Config/profiles fit their caps, and the plan names the costs.
@Suite struct ShippedProfileTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Config/profiles").standardized

    @Test func everyProfileFits() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path(percentEncoded: false))
        let caps = ["1080p30.yaml": 50, "1080p30-quality.yaml": 66]
        #expect(Set(files) == Set(caps.keys))
        for file in files {
            let path = Self.folder.appending(path: file).path(percentEncoded: false)
            let loaded = try Configuration.load(path: path, environment: ["STREAM_KEY": "key"])
            let plan = loaded.memoryPlan
            #expect(try plan.capBytes == #require(caps[file]) << 20 && plan.fits, "\(file): \(plan)")
            // One profile has subpixel motion. The others name the cost of its absence, and the cap that avoids that.
            #expect((plan.price == nil) == (file == "1080p30-quality.yaml"), "\(file): \(plan)")
            #expect(plan.sufficientCapMebibytes <= 66)
        }
    }
}
