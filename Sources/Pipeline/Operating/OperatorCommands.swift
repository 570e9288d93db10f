internal import Adaptation
internal import Configuration
package import ControlProtocol
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// What an operator can have done to the running broadcast. Any thread; nothing here waits for a data thread.
package final class OperatorCommands: Sendable {
    private struct State {
        /// Bits a second that an operator allows; nil as configured. Lasts until the daemon ends.
        var bitrateCeiling: Int?
        /// What a reload has put in the place of the configured bitrate; at most that.
        var reloadedBitrate: Int?
    }
    private let state = Monitor(State())
    private let configuration: Configuration
    private let current: CurrentBroadcast
    private let phase: BroadcastPhase
    private let server: IngestServer
    private let logger: Logger

    init(
        _ configuration: Configuration, _ current: CurrentBroadcast, _ phase: BroadcastPhase, server: IngestServer,
        logger: Logger
    ) {
        (self.configuration, self.current, self.phase) = (configuration, current, phase)
        (self.server, self.logger) = (server, logger)
    }

    /// Ends the running broadcast in order: what is encoded is sent, the client is told. The daemon waits for the next.
    package func stop() throws(CommandRefusal) {
        _ = try requireRun()
        logger.tell(.stoppedByAnOperator)
        server.endByOperator()
    }

    /// From now on the last picture is repeated, with silence, whatever the client sends; or no longer. A broadcast
    /// that begins is not paused.
    package func pause(_ isPaused: Bool) throws(CommandRefusal) {
        let changed = current.state.withLock { state in
            state.lifecycle.update { run in
                defer { run.isPaused = isPaused }
                run.broadcast.inlet.pause(isPaused)
                return run.isPaused != isPaused
            }
        }
        guard let isNews = changed else { throw Self.noBroadcast }
        // A picture that was kept is shown after the pause.
        server.curtainChanged()
        phase.note()
        guard isNews else { return }
        logger.tell(isPaused ? .pausedByAnOperator : .resumedByAnOperator)
    }

    /// The next frame is a keyframe; a screen that stands still has one with its next repetition.
    package func requestKeyframe() throws(CommandRefusal) {
        try requireRun().broadcast.encoder.requestKeyframe()
    }

    /// The most bits a second of video from now on, in this broadcast and those that follow; nil for what is
    /// configured, which is the most: memory was planned for it. Links that carry less still lower it.
    ///
    /// - Parameter who: for the log.
    package func setBitrateCeiling(_ bitrate: Int?, by who: String = "an operator") throws(CommandRefusal) {
        let least = VideoConfiguration.leastBitrate
        if let bitrate, !(least...max(least, configuration.video.bitrate)).contains(bitrate) {
            throw CommandRefusal(
                code: .badValue,
                sentence: "bits_per_second: \(least) to \(configuration.video.bitrate) (video.bitrate_kbps, which "
                    + "memory was planned for), not \(bitrate)")
        }
        let ceiling = state.withLock { state in
            state.bitrateCeiling = bitrate ?? state.reloadedBitrate
            return state.bitrateCeiling
        }
        current.broadcast?.bitrate.setCeiling(ceiling)
        logger.tell(
            .bitrateCeilingSet(kilobitsPerSecond: (ceiling ?? configuration.video.bitrate) / 1000, by: who))
    }

    /// A reload replaces the configured bitrate; nil for that of the start. An operator's ceiling
    /// is forgotten.
    func configureBitrate(_ bitrate: Int?) throws(CommandRefusal) {
        state.withLock { $0.reloadedBitrate = bitrate }
        try setBitrateCeiling(nil, by: "a reload")
    }

    /// What the encoder is asked for where nobody says otherwise.
    var configuredBitrate: Int { state.withLock { $0.reloadedBitrate } ?? configuration.video.bitrate }

    /// The most bits a second; nil as configured.
    var bitrateCeiling: Int? { state.withLock { $0.bitrateCeiling } }

    /// A JPEG file of what is encoded, at most 640 wide; nil while it is on its way.
    package func snapshot() throws(CommandRefusal) -> [UInt8]? {
        guard configuration.control.snapshotSize > 0 else {
            throw CommandRefusal(
                code: .snapshotUnavailable, sentence: "control.snapshot_size is 0: this daemon makes no snapshots")
        }
        guard let broadcast = current.broadcast else { throw Self.noSnapshot }
        do { return try broadcast.snapshots.file() } catch {
            throw CommandRefusal(code: .failed, sentence: "the snapshot cannot be made: \(error)")
        }
    }

    /// The one before, where a new one does not come.
    package func lastSnapshot() throws(CommandRefusal) -> [UInt8] {
        guard let file = current.broadcast?.snapshots.lastFile else { throw Self.noSnapshot }
        return file
    }

    private static var noSnapshot: CommandRefusal {
        CommandRefusal(
            code: .snapshotUnavailable, sentence: "no broadcast encodes video now")
    }

    private func requireRun() throws(CommandRefusal) -> Lifecycle.Run {
        guard let run = current.running else { throw Self.noBroadcast }
        return run
    }

    private static var noBroadcast: CommandRefusal {
        CommandRefusal(code: .noBroadcast, sentence: "no broadcast is running")
    }
}
