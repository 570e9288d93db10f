import LinuxSystem
import MediaCore
import Testing

@Suite struct WorkMarkTests {
    @Test func piecesHaveNumbersOfTheirOwn() {
        let mark = WorkMark("test")
        #expect(mark.current == nil)
        mark.end()
        #expect(mark.current == nil)
        mark.begin()
        let first = mark.current
        #expect(first != nil && first == mark.current)
        mark.begin(allowing: .seconds(3))
        #expect(mark.current?.number != first?.number)
        #expect(mark.current?.allowance == .seconds(3))
        mark.end()
        mark.end()
        #expect(mark.current == nil)
        mark.begin()
        #expect(mark.current?.allowance == .zero)
        #expect(mark.current?.number != first?.number)
    }
}
