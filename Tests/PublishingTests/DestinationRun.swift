import Buffering
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// A destination under test, with all its events.
final class DestinationRun {
    let destination: Destination
    let log: PacketLog
    private let events = Monitor<[DestinationEvent]>([])

    /// One attempt by default.
    ///
    /// - Parameter sink: nil for the one of the settings.
    init(
        _ settings: DestinationSettings, sink: (any SinkSettings)? = nil, log: PacketLog = FLVFixture.log(),
        format: BroadcastFormat = .smallest, reconnect: ReconnectPolicy = .never,
        clock: any TimeSource = MonotonicClock()
    ) throws {
        self.log = log
        var settings = settings
        settings.reconnect = reconnect
        let events = events
        destination = Destination(
            index: 0, settings: settings, sink: sink ?? settings.kind.sink, log: log, format: format, clock: clock,
            onEvent: { event in events.signal { $0.append(event) } })
        try destination.start()
    }

    /// A sink of a test's own, that is tried again at once.
    convenience init(own sink: any SinkSettings, clock: any TimeSource = MonotonicClock()) throws {
        var policy = ReconnectPolicy()
        policy.firstDelay = .milliseconds(1)
        try self.init(
            DestinationSettings(name: "own", kind: .flvFile(FLVFileSettings(path: "unused"))), sink: sink,
            reconnect: policy, clock: clock)
    }

    deinit {
        destination.cancel()
        destination.join()
    }

    /// Waits until the destination has been in `state`.
    func wait(for state: DestinationState) throws {
        let found: Bool? = events.wait(until: MonotonicClock().now() + .seconds(30)) { events in
            events.contains { if case .state(let entered) = $0 { entered == state } else { false } } ? true : nil
        }
        try #require(found == true, "never \(state.rawValue): \(said)")
    }

    /// Waits until the snapshot satisfies a condition.
    func wait(until what: String, _ condition: (DestinationSnapshot) -> Bool) throws {
        try waitFor(what, within: 30) { condition(destination.snapshot) }
    }

    /// Writes a keyframe of one byte.
    func writeKeyframe(at milliseconds: Int64, epoch: CurtainEpoch = 0) {
        let time = MediaTime.milliseconds(milliseconds)
        log.write(
            PacketInfo(track: .video, pts: time, dts: time, priority: .keyframe, epoch: epoch),
            payload: [1].span.bytes)
    }

    /// Writes a whole fixture to the log. The first packet is written alone, because the cursor would start at the last
    /// keyframe.
    func feed(_ fixture: FLVFixture, offset: MediaTime = .zero) throws {
        fixture.write(0..<1, to: log, offset: offset)
        try wait(until: "the first keyframe went out") { $0.video.packets == 1 }
        fixture.write(1..<fixture.recording.packets.count, to: log, offset: offset)
    }

    /// Ends the log, drains and joins.
    func stop(within seconds: Int64 = 20) {
        log.end()
        destination.stop(deadline: MonotonicClock().now() + .seconds(seconds))
        destination.join()
    }

    /// Waits for the failure that a test expects.
    func failure() throws -> PublishError {
        try wait(for: .failed)
        destination.join()
        let failures = events.withLock { $0.compactMap { if case .failed(let error) = $0 { error } else { nil } } }
        #expect(failures.count == 1)
        return try #require(failures.first)
    }

    var said: [String] {
        events.withLock { events in
            events.map { event in
                switch event {
                case .state(let state): state.rawValue
                case .failed(let error), .retrying(let error, _, _): error.description
                case .flapping(let error, let connections): "flapping \(connections): \(error)"
                case .notice(let text), .warning(let text): text
                }
            }
        }
    }
    var notices: [String] {
        events.withLock { events in
            events.compactMap { event in
                switch event {
                case .notice(let text), .warning(let text): text
                default: nil
                }
            }
        }
    }
}

extension SinkFacts {
    /// Those of a sink of a test's own, which keeps everything and has no buffers.
    static let own = SinkFacts(
        kind: "own", location: "own://server", cursorPolicy: .keepEverything,
        longestWaits: SinkWaits(opening: .seconds(30), turn: .seconds(30)), headroom: 0, tailroom: 0, bufferedBytes: 0)
}
