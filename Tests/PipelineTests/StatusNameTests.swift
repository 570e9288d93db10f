import Buffering
import Configuration
import ControlProtocol
import MediaCore
import Publishing
import Testing

@testable import Pipeline

/// `video_tooLarge` stood beside `video_superseded`, so programs that read the status needed two conventions.
@Suite struct StatusNameTests {
    @Test(arguments: [
        SampleDropCause.allCases.map(\.rawValue), DropCause.allCases.map(\.rawValue),
        FailureCause.allCases.map(\.rawValue), MemoryPlan.Purpose.allCases.map(\.rawValue),
    ])
    func areLowerCaseWordsWithUnderscores(names: [String]) {
        for name in names { #expect(name.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(name)") }
        #expect(!names.isEmpty && Set(names).count == names.count)
    }

    /// The status and the metrics have their own lists, because `ControlProtocol` knows no other module.
    @Test func listsOfNamesAreWhole() {
        #expect(VideoStatus.efforts == VideoEffort.allCases.map(\.rawValue))
        #expect(StatusReport.memorySteps == MemoryStep.allCases.map(\.rawValue))
    }
}
