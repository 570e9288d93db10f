import Configuration
import Foundation
import Pipeline
import Testing

/// What is shipped in Config/profiles fits under the cap that it is for.
@Suite struct ShippedProfileTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Config/profiles").standardized

    @Test func everyProfileFits() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path(percentEncoded: false))
        #expect(files.contains("1080p30.yaml"))
        for file in files {
            let path = Self.folder.appending(path: file).path(percentEncoded: false)
            let loaded = try Configuration.load(path: path, environment: ["STREAM_KEY": "key"])
            let plan = loaded.memoryPlan
            #expect(plan.capBytes == 52_428_800 && plan.fits, "\(file): \(plan)")
        }
    }
}
