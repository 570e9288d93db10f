import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import SeededRandom
import TestLimits
import TestSupport
import Testing
import UpcastClient

/// Promises: `events` gives each event to one reader, ends when it says, and leaves no thread behind; a task that waits
/// for the daemon keeps no thread of the executor that it runs on.
@Suite(.serialized, .endsWithin(60, on: .shared)) struct AsyncTests {
    private static let setup = BroadcastSetup(clientName: "tests", convention: .exif)

    private static func state(_ peer: Peer, _ number: UInt32) {
        peer.send { StateMessage(.slowDown, value: number, text: "").encode(sequence: $0, into: &$1) }
    }

    private func number(_ event: CaptureEvent?) -> Int? {
        if case .state(.slowDown(let number), _)? = event { number } else { nil }
    }

    /// Threads of this process that iterate over events: only this suite has some.
    private func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name == "upcast-events\n"
        }
    }

    /// Whether all of them have ended. One that has been joined may be listed for a moment more.
    private func noThreadIsLeft() throws -> Bool {
        let deadline = MonotonicClock().now() + .seconds(5)
        while try threads() > 0 {
            guard MonotonicClock().now() < deadline else { return false }
            usleep(1_000)
        }
        return true
    }

    /// A daemon that does what `script` says after the welcome, and then waits until the test lets it go.
    private func daemon(_ script: @escaping @Sendable (Peer) throws -> Void) throws -> (TestDaemon, Monitor<Bool>) {
        let mayEnd = Monitor(false)
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            try script(peer)
            _ = mayEnd.wait(until: MonotonicClock().now() + .seconds(30)) { $0 ? true : nil }
        }
        return (daemon, mayEnd)
    }

    @Test func aBroadcastFromATask() async throws {
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            Self.state(peer, 1)
            while try peer.read().header.type != .finished {}
            Self.state(peer, 2)
            peer.goodbye(taken: 1)
        }
        let connection = try await CaptureConnection(path: daemon.path)
        let welcome = try await connection.start(Self.setup)
        #expect(welcome.canvas == CaptureSize(width: 1280, height: 720))
        #expect(welcome.frameRate == CaptureFrameRate(30))
        #expect(Set(welcome.pixelFormats) == Set(CapturePixelFormat.allCases))
        let reader = Task(executorPreference: OwnThreads.shared) {
            var numbers: [Int] = []
            var last: CaptureEvent?
            for try await event in connection.events {
                if let number = number(event) { numbers.append(number) }
                last = event
            }
            return (numbers, last)
        }
        let format = try CaptureVideoFormat(.gray, width: 16, height: 16)
        try connection.sendVideo([UInt8](repeating: 0, count: 256).span.bytes, format: format, at: .zero)
        let goodbye = try await connection.finish()
        // The sequence has every event, although `finish` waited beside it.
        let (numbers, last) = try await reader.value
        #expect(numbers == [1, 2] && last == .goodbye(goodbye) && goodbye.counters.framesTaken == 1)
        #expect(try noThreadIsLeft())
        daemon.join()
    }

    /// The blocking `finish` gives nothing away that a task iterates over.
    @Test func theBlockingFinishLeavesEventsToTheSequence() async throws {
        let isListening = Monitor(false)
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            Self.state(peer, 1)
            while try peer.read().header.type != .finished {}
            for number in 2...9 { Self.state(peer, UInt32(number)) }
            peer.goodbye()
        }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        let reader = Task(executorPreference: OwnThreads.shared) {
            var numbers: [Int] = []
            for try await event in connection.events {
                if let number = number(event) { numbers.append(number) }
                isListening.signal { $0 = true }
            }
            return numbers
        }
        let (goodbye, others) = try await result { () throws -> (CaptureGoodbye, Int) in
            _ = isListening.wait(until: Patience.deadline(15)) { $0 ? true : nil }
            var others = 0
            return (try connection.finish { _ in others += 1 }, others)
        }
        #expect(goodbye.reason == .finished && others == 0)
        #expect(try await reader.value == Array(1...9))
        daemon.join()
    }

    @Test func cancellingEndsAnIterationAndItsThread() async throws {
        let (daemon, mayEnd) = try daemon { Self.state($0, 1) }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        let (seen, hasSeen) = AsyncStream<Int>.makeStream()
        let reader = Task(executorPreference: OwnThreads.shared) {
            defer { hasSeen.finish() }
            for try await event in connection.events {
                if let number = number(event) { hasSeen.yield(number) }
            }
            return Task.isCancelled
        }
        var first = seen.makeAsyncIterator()
        #expect(await first.next() == 1)
        #expect(try threads() == 1)
        reader.cancel()
        #expect(try await reader.value, "it ends without an error")
        #expect(try noThreadIsLeft())
        // One that begins cancelled gets what is there, or nothing.
        let late = Task(executorPreference: OwnThreads.shared) {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in connection.events {}
        }
        try await late.value
        #expect(try noThreadIsLeft())
        mayEnd.signal { $0 = true }
        daemon.join()
    }

    /// However a cancellation and an event meet: the next reader gets on where the last one has stopped.
    @Test func noEventIsLostToACancellation() async throws {
        let count = 200
        let (daemon, mayEnd) = try daemon { for number in 1...count { Self.state($0, UInt32(number)) } }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        var random = SplitMix64(seed: 11)
        var numbers: [Int] = []
        while numbers.count < count {
            let (firsts, hasFirst) = AsyncStream<Int>.makeStream()
            let reader = Task(executorPreference: OwnThreads.shared) {
                defer { hasFirst.finish() }
                var some: [Int] = []
                for try await event in connection.events {
                    if let number = number(event) { some.append(number) }
                    hasFirst.yield(some.count)
                }
                return some
            }
            // Each gets one at least: an event that is lost is waited for in vain.
            for await _ in firsts { break }
            usleep(.random(in: 0...100, using: &random))
            reader.cancel()
            numbers += try await reader.value
        }
        #expect(numbers == Array(1...count))
        #expect(try noThreadIsLeft())
        mayEnd.signal { $0 = true }
        daemon.join()
    }

    /// A loop that is left takes its thread with it, and the next one goes on.
    @Test func leavingALoopEndsTheThread() async throws {
        let (daemon, mayEnd) = try daemon { for number in 1...2 { Self.state($0, UInt32(number)) } }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        for wanted in 1...2 {
            for try await event in connection.events {
                #expect(number(event) == wanted)
                break
            }
            #expect(try noThreadIsLeft())
        }
        #expect(try connection.nextEvent() == nil)
        mayEnd.signal { $0 = true }
        daemon.join()
    }

    @Test func theEndOfTheConnectionIsThrown() async throws {
        let (daemon, mayEnd) = try daemon { Self.state($0, 7) }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        var events = connection.events.makeAsyncIterator()
        #expect(number(try await events.next()) == 7)
        mayEnd.signal { $0 = true }
        do throws(CaptureError) {
            _ = try await events.next()
            Issue.record("the connection has ended")
        } catch {
            #expect(error.code == .disconnected)
        }
        #expect(try await events.next() == nil)
        #expect(try noThreadIsLeft())
        daemon.join()
    }

    /// The daemon takes the connection and says nothing.
    @Test func startAndFinishCanBeCancelled() async throws {
        let received = Monitor(0)
        let daemon = try TestDaemon { peer in
            while true {
                _ = try peer.read()
                received.signal { $0 += 1 }
            }
        }
        let connection = try await CaptureConnection(path: daemon.path)
        for (count, isStart) in [(1, true), (2, false)] {
            let call = Task(executorPreference: OwnThreads.shared) { () -> CaptureError.Code? in
                do throws(CaptureError) {
                    if isStart {
                        _ = try await connection.start(Self.setup, timeout: .seconds(60))
                    } else {
                        _ = try await connection.finish(timeout: .seconds(60))
                    }
                    return nil
                } catch {
                    return error.code
                }
            }
            _ = received.wait(until: Patience.deadline(15)) { $0 >= count ? true : nil }
            call.cancel()
            #expect(await call.value == .cancelled)
        }
        connection.abort()
        daemon.join()
    }

    /// More tasks wait than a pool has threads, and others get on.
    @Test func waitingTasksLeaveThePoolFree() async throws {
        let (count, pool, hasGotOn) = (4, SmallestPool(), Monitor(false))
        var daemons: [(TestDaemon, Monitor<Bool>)] = []
        var readers: [Task<Void, any Error>] = []
        for _ in 0..<count {
            let next = try daemon { _ in }
            daemons.append(next)
            let connection = try await CaptureConnection(path: next.0.path)
            _ = try await connection.start(Self.setup)
            readers.append(Task(executorPreference: pool) { for try await _ in connection.events {} })
        }
        try waitFor("all tasks to wait") { try threads() == count }
        Task(executorPreference: pool) { hasGotOn.signal { $0 = true } }
        #expect(hasGotOn.wait(until: Patience.deadline(15)) { $0 ? true : nil } == true)
        for reader in readers { reader.cancel() }
        for reader in readers { try await reader.value }
        #expect(try noThreadIsLeft())
        for (daemon, mayEnd) in daemons {
            mayEnd.signal { $0 = true }
            daemon.join()
        }
    }

    /// A thread that only looks does not wait for a task that reads.
    @Test func lookingDoesNotWaitForAReader() async throws {
        let (daemon, mayEnd) = try daemon { _ in }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        let reader = Task(executorPreference: OwnThreads.shared) { for try await _ in connection.events {} }
        try waitFor("the reader's thread") { try threads() > 0 }
        #expect(try connection.nextEvent() == nil)
        #expect(try connection.nextEvent(timeout: .milliseconds(5)) == nil)
        reader.cancel()
        try await reader.value
        mayEnd.signal { $0 = true }
        daemon.join()
    }

    /// What a thread of its own returns: for calls that block in a test.
    private func result<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }

    @Test(arguments: [Duration.seconds(10_000_000_000), .seconds(-10_000_000_000)])
    func timesBeyondTheProtocolAreRefused(pts: Duration) async throws {
        let (daemon, mayEnd) = try daemon { _ in }
        let connection = try await CaptureConnection(path: daemon.path)
        _ = try await connection.start(Self.setup)
        let format = try CaptureVideoFormat(.gray, width: 16, height: 16)
        do throws(CaptureError) {
            try connection.sendVideo([UInt8](repeating: 0, count: 256).span.bytes, format: format, at: pts)
            Issue.record("it was sent")
        } catch {
            #expect(error.code == .invalidArgument)
        }
        mayEnd.signal { $0 = true }
        daemon.join()
    }
}

/// Numbers of the protocol have names in the library.
@Suite struct NamesTests {
    @Test func everyErrorCodeHasAName() {
        let named: [DaemonErrorCode] = [
            .badMagic, .unsupportedVersion, .bodyTooLarge, .payloadTooLarge, .unknownCriticalMessage, .sequenceGap,
            .unexpectedMessage, .busy, .malformedBody, .malformedExtension, .unsupportedExtension,
            .orientationConvention, .truncated, .timedOut, .unsupportedPixelFormat, .badPictureSize, .badPlaneLayout,
            .planeOutsidePayload, .badColor, .badSharedMemory, .sampleOverwritten, .unknownPicture, .badSecureRegions,
            .unsupportedAudioFormat, .inconsistentAudioFormat, .audioPayloadMismatch, .shuttingDown, .broadcastFailed,
        ]
        #expect(named.map(\.rawValue) == ErrorCode.allCases.map(\.rawValue))
        #expect("\(DaemonErrorCode.busy)" == "busy" && "\(DaemonErrorCode(rawValue: 999))" == "999")
    }

    @Test func everyStateHasItsUnit() throws {
        let texts = Record<CaptureEvent>()
        let daemon = try TestDaemon { peer in
            try peer.welcome()
            for state in IngestProtocol.BroadcastState.allCases {
                peer.send { StateMessage(state, value: 18, text: "x").encode(sequence: $0, into: &$1) }
            }
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(BroadcastSetup(clientName: "tests", convention: .exif))
        for _ in IngestProtocol.BroadcastState.allCases {
            texts.append(try #require(try connection.nextEvent(timeout: .seconds(10))))
        }
        let states: [UpcastClient.BroadcastState] = [
            .connecting(attempt: 18), .live, .congested(late: .milliseconds(18)), .reconnecting(in: .milliseconds(18)),
            .slowDown(framesPerSecond: 18), .draining(queued: .milliseconds(18)), .degraded(reached: 18),
            .curtainUp([.app, .awaitsPicture]), .curtainDown,
        ]
        #expect(texts.all == states.map { .state($0, text: "x") })
        daemon.join()
    }
}

/// Runs one job at a time, as a pool with one thread does. The cooperative pool is no measure: other tests block it.
private final class SmallestPool: TaskExecutor {
    private let turn = Monitor(())

    func enqueue(_ job: consuming ExecutorJob) {
        let (job, turn) = (UnownedJob(job), turn)
        let executor = asUnownedTaskExecutor()
        do {
            try WorkerThread(name: "test-pool", stackBytes: 4 << 20) {
                turn.withLock { _ in job.runSynchronously(on: executor) }
            }.abandon()
        } catch {
            fatalError("no thread for a test: \(error)")
        }
    }
}
