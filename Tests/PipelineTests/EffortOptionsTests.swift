import Configuration
import MediaCore
import Testing

@testable import Encoding

/// Options that an effort sets cannot be configured in addition to it.
@Suite struct EffortOptionsTests {
    @Test(arguments: VideoEffort.allCases)
    func everyOptionOfAnEffortIsRefusedBesideIt(effort: VideoEffort) throws {
        let parameters = X264Effort.parameters(effort) + ":" + X264Effort.withoutSubpixelMotion(effort)
        for parameter in parameters.split(separator: ":") {
            let name = String(parameter.prefix { $0 != "=" })
            let text = """
                video:
                  effort: \(effort.rawValue)
                  encoder_options: {x264-params: "\(parameter)"}
                """
            let error = #expect(throws: ConfigurationError.self, "\(parameter)") {
                try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: [:])
            }
            let problems = try #require(error).problems.map(\.description)
            #expect(problems.contains { $0.contains("option \(name) conflicts with video.effort") }, "\(problems)")
        }
    }
}
