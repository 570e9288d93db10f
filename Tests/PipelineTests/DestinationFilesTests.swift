import Configuration
import Glibc
import LinuxSystem
import Logging
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// Promise: a key that is missing is known before a broadcast needs it, and nobody waits for its disk.
@Suite(.endsWithin(120)) struct DestinationFilesTests {
    private let folder: TemporaryDirectory
    private let rig: PartsRig
    private let files: DestinationFiles

    init() throws {
        let folder = try TemporaryDirectory("files")
        self.folder = folder
        rig = try PartsRig { configuration in
            var second = configuration.destinations[0]
            (second.name, second.keyEnvironment, second.keyFile) = ("second", nil, folder.file("key"))
            configuration.destinations.append(second)
        }
        let log = rig.log
        files = DestinationFiles(rig.roster, clock: rig.clock, logger: .init(label: "test") { _ in log })
    }

    /// Turns the clock, and waits until the files have been read once more.
    private func look(until isDone: @escaping () -> Bool) throws {
        rig.clock.advance(by: DestinationFiles.periodOfProblems)
        files.tick()
        try waitFor("the files to be read", evidence: { "\(rig.log.lines)" }, isDone)
    }

    private var told: [String] {
        rig.log.lines.map { line in
            ["destination", "key", "why"].compactMap { line.metadata[$0] }.reduce(line.message) { "\($0) \($1)" }
        }
    }

    @Test func aMissingKeyIsKnownAndRecovers() throws {
        files.begin(waiting: .seconds(20))
        let missing = "key_file \(folder.file("key")) cannot be opened: No such file or directory; "
            + "check the path and its permissions"
        #expect(files.problem == "second: \(missing)")
        #expect(told == ["destination not ready second key_file \(missing)"])
        // The same again is no news; another cause is.
        try folder.write("\n", to: "key")
        try look { files.problem?.contains("is empty") == true }
        try folder.write("s3cret-of-a-file\n", to: "key")
        try look { files.problem == nil }
        #expect(told.count == 3 && told.last == "destination ready second", "\(told)")
        #expect(!"\(told)".contains("s3cret"))
    }

    /// A destination that is removed takes its problem along.
    @Test func whatIsRemovedIsNoProblem() throws {
        files.begin(waiting: .seconds(20))
        #expect(files.problem != nil)
        try rig.roster.remove("second")
        try look { files.problem == nil }
        #expect(!told.contains("destination ready second"), "\(told)")
    }

    /// A variable is on no disk: it is looked at on the spot.
    @Test func aVariableThatIsNotSet() throws {
        let rig = try PartsRig { $0.destinations[0].keyEnvironment = "NONE" }
        let log = rig.log
        let files = DestinationFiles(rig.roster, clock: rig.clock, logger: .init(label: "test") { _ in log })
        files.tick()
        #expect(files.problem?.hasPrefix("main: the environment variable of key_env is not set") == true)
        #expect(log.lines.map { $0.metadata["key"] } == ["key_env"])
    }

    /// Files that were in order are read again later, so that a key that vanishes is noticed.
    @Test func aKeyThatVanishes() throws {
        try folder.write("key\n", to: "key")
        files.begin(waiting: .seconds(20))
        #expect(files.problem == nil && told.isEmpty)
        try #require(unlink(folder.file("key")) == 0)
        rig.clock.advance(by: DestinationFiles.period)
        files.tick()
        try waitFor("the key to be missed") { files.problem?.hasPrefix("second: key_file ") == true }
    }

    /// Waiting ends without the disk, and the daemon says what it waits for.
    @Test(.enabled(if: HangingDisk.unavailable == nil, "needs a FUSE file system (root, /dev/fuse)"))
    func aDiskThatHangs() throws {
        let disk = try HangingDisk()
        let rig = try PartsRig { configuration in
            (configuration.destinations[0].keyEnvironment, configuration.destinations[0].keyFile) = (
                nil, disk.file("key")
            )
        }
        let log = rig.log
        let files = DestinationFiles(rig.roster, clock: rig.clock, logger: .init(label: "test") { _ in log })
        disk.hang()
        let hasBegun = Monitor(false)
        let thread = try WorkerThread(name: "test-begin") {
            files.begin(waiting: .seconds(1))
            hasBegun.withLock { $0 = true }
        }
        try waitFor("the key file to be read") { disk.waiting == 1 }
        #expect(files.problem == nil && !hasBegun.withLock { $0 }, "nothing is known yet")
        try waitFor("the start to go on") {
            rig.clock.advance(by: .milliseconds(500))
            return hasBegun.withLock { $0 }
        }
        thread.join()
        rig.clock.advance(by: DestinationFiles.patience)
        files.tick()
        files.tick()
        #expect(files.problem == "main: its files cannot be read for 5.000 s; their disk hangs")
        #expect(log.lines.map(\.message) == ["destination not ready"])
        disk.recover()
        // It was never written.
        try waitFor("the disk to answer") { files.problem?.contains("cannot be opened") == true }
        disk.put("k3y".utf8, "key")
        rig.clock.advance(by: DestinationFiles.periodOfProblems)
        files.tick()
        try waitFor("the key", evidence: { "\(log.lines)" }) { files.problem == nil }
        #expect(log.lines.last?.message == "destination ready" && log.lines.last?.metadata["destination"] == "main")
    }
}
