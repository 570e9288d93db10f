import Configuration
import Testing

@Suite struct StateFileTests {
    /// `--check-config` says what the daemon would refuse to start with.
    @Test func aFolderThatIsNotThere() {
        func problems(_ path: String?) -> [String] {
            var configuration = Configuration()
            configuration.privacy.stateFile = path
            return configuration.problemsOnThisMachine(environment: [:])
                .filter { $0.key == "privacy.state_file" }.map(\.what)
        }
        #expect(problems(nil) == [])
        #expect(problems("/tmp/state.json") == [])
        #expect(problems("/nowhere/at/all/state.json") == ["the folder of /nowhere/at/all/state.json does not exist"])
    }
}
