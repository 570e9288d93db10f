internal import Adaptation
internal import Configuration
package import ControlProtocol
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// Operators' commands to the running broadcast. Any thread; no command waits for a data thread.
package final class OperatorCommands: Sendable {
    private struct State {
        /// The ceiling that an operator has set, in bits a second; nil for the configured bitrate. Lasts until the
        /// daemon ends.
        var bitrateCeiling: Int?
        /// A reload's bitrate, which replaces the configured one and does not exceed it; nil for none.
        var reloadedBitrate: Int?
    }
    private let state = Monitor(State())
    private let destinations: DestinationRoster
    private let current: CurrentBroadcast
    private let phase: BroadcastPhase
    private let server: IngestServer
    private let logger: Logger

    init(
        _ destinations: DestinationRoster, _ current: CurrentBroadcast, _ phase: BroadcastPhase, server: IngestServer,
        logger: Logger
    ) {
        (self.destinations, self.current, self.phase) = (destinations, current, phase)
        (self.server, self.logger) = (server, logger)
    }

    private var configuration: Configuration { destinations.configuration }

    /// A broadcast begins, perhaps with another configured bitrate. A ceiling that is not below it is removed. Ingest
    /// thread.
    func beginNext() {
        let bitrate = configuration.video.bitrate
        state.withLock { state in
            if let reloaded = state.reloadedBitrate, reloaded >= bitrate { state.reloadedBitrate = nil }
            if let ceiling = state.bitrateCeiling, ceiling >= bitrate { state.bitrateCeiling = nil }
        }
    }

    /// Ends the running broadcast in order: sends its encoded packets and notifies the client. The daemon continues.
    package func stop() throws(CommandRefusal) {
        _ = try requireRun()
        logger.tell(.stoppedByAnOperator)
        server.endByOperator()
    }

    /// Repeats the last picture with silence, whatever the client sends, or stops that. New broadcasts are not paused.
    package func pause(_ isPaused: Bool) throws(CommandRefusal) {
        let changed = current.state.withLock { state in
            state.lifecycle.update { running in
                defer { running.isPaused = isPaused }
                running.run.broadcast.inlet.pause(isPaused)
                return running.isPaused != isPaused
            }
        }
        guard let isNews = changed else { throw Self.noBroadcast }
        // A kept picture is shown after the pause.
        server.curtainChanged()
        phase.note()
        guard isNews else { return }
        logger.tell(isPaused ? .pausedByAnOperator : .resumedByAnOperator)
    }

    /// Makes the next frame a keyframe; on a still screen, the next idle repeat.
    package func requestKeyframe() throws(CommandRefusal) {
        try requireRun().broadcast.encoder.requestKeyframe()
    }

    /// Sets the highest video bitrate, in bits a second, for this and later broadcasts; nil for the configured one,
    /// which memory was planned for. Slow links can still lower the bitrate.
    ///
    /// - Parameter who: who sets it, for the log.
    package func setBitrateCeiling(_ bitrate: Int?, by who: String = "an operator") throws(CommandRefusal) {
        let least = VideoConfiguration.leastBitrate
        if bitrate != nil, !configuration.video.changesBitrate {
            throw CommandRefusal(
                code: .badValue,
                sentence: "\(configuration.video.encoder) keeps the bitrate with which it was opened; change "
                    + "video.bitrate_kbps and begin another broadcast, or use libx264")
        }
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

    /// Replaces the configured bitrate after a reload; nil ends that. Removes an operator's ceiling.
    func configureBitrate(_ bitrate: Int?) throws(CommandRefusal) {
        state.withLock { $0.reloadedBitrate = bitrate }
        try setBitrateCeiling(nil, by: "a reload")
    }

    /// The target bitrate without a ceiling.
    var configuredBitrate: Int { state.withLock { $0.reloadedBitrate } ?? configuration.video.bitrate }

    /// The ceiling in bits a second; nil for the configured bitrate.
    var bitrateCeiling: Int? { state.withLock { $0.bitrateCeiling } }

    /// A JPEG file of the encoded picture, with a longer side of `control.snapshot_size`; nil while it is being made.
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

    /// The last snapshot, for when no new one can be made.
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
