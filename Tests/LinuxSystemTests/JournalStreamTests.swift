import Foundation
import LinuxSystem
import Testing

/// The variable alone does not say that standard error is the journal: it is inherited, also where that was redirected.
@Suite struct JournalStreamTests {
    @Test func onlyTheStreamThatIsNamed() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var status = stat()
        fstat(ends[1], &status)
        func isJournal(_ text: String?) -> Bool {
            JournalStream.isStandardError(
                environment: text.map { ["JOURNAL_STREAM": $0] } ?? [:], descriptor: ends[1])
        }
        #expect(isJournal("\(status.st_dev):\(status.st_ino)"))
        #expect(!isJournal("\(status.st_dev):\(status.st_ino + 1)"))
        #expect(!isJournal("\(status.st_dev)"))
        #expect(!isJournal("a:b"))
        #expect(!isJournal(nil))
    }
}
