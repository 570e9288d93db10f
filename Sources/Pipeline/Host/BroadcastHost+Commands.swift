internal import Configuration
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// What an operator can have done to the running broadcast. Any thread; nothing here waits for a data thread.
extension BroadcastHost {
    /// Ends the running broadcast in order: what is encoded is sent, the client is told. The daemon waits for the next.
    package func stopBroadcast() throws(CommandRefusal) {
        try requireBroadcast()
        logger.notice("stopped by an operator", metadata: ["now": "the broadcast is ended, the daemon goes on"])
        server.endByOperator()
    }

    /// From now on the last picture is repeated, with silence, whatever the client sends; or no longer. A broadcast
    /// that begins is not paused.
    package func pauseBroadcast(_ isPaused: Bool) throws(CommandRefusal) {
        try requireBroadcast()
        let isNews = state.withLock { state in
            defer { state.isHeld = isPaused }
            return state.isHeld != isPaused
        }
        current?.inlet.hold(isPaused)
        // A picture that was kept is shown after the pause.
        server.curtainChanged()
        notePhase()
        guard isNews else { return }
        if isPaused {
            logger.notice("paused by an operator", metadata: ["now": "the last picture is repeated, with silence"])
        } else {
            logger.notice("resumed by an operator")
        }
    }

    /// The next frame is a keyframe; a screen that stands still has one with its next repetition.
    package func requestKeyframe() throws(CommandRefusal) {
        try requireBroadcast()
        current?.encoder.requestKeyframe()
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
        current?.bitrate.setCeiling(ceiling)
        logger.notice(
            "bitrate ceiling set",
            metadata: ["kbit_s": "\((ceiling ?? configuration.video.bitrate) / 1000)", "by": "\(who)"])
    }

    /// A JPEG file of what is encoded, at most 640 wide; nil while it is on its way.
    package func snapshot() throws(CommandRefusal) -> [UInt8]? {
        guard configuration.control.snapshotSize > 0 else {
            throw CommandRefusal(
                code: .snapshotUnavailable, sentence: "control.snapshot_size is 0: this daemon makes no snapshots")
        }
        guard let broadcast = current else { throw Self.noSnapshot }
        do { return try broadcast.snapshots.file() } catch {
            throw CommandRefusal(code: .failed, sentence: "the snapshot cannot be made: \(error)")
        }
    }

    /// The one before, where a new one does not come.
    package func lastSnapshot() throws(CommandRefusal) -> [UInt8] {
        guard let file = current?.snapshots.lastFile else { throw Self.noSnapshot }
        return file
    }

    private static var noSnapshot: CommandRefusal {
        CommandRefusal(
            code: .snapshotUnavailable, sentence: "no picture is being encoded, so that there is none to show")
    }

    package var history: StatusHistory { state.withLock { $0.history } }

    /// Once a second, by the main thread. Allocates nothing.
    func noteHistory() {
        let broadcast = current
        let queued = broadcast?.destinations.backlogDuration ?? .zero
        let frames = broadcast.map { $0.counters.framesEncoded.asInt + $0.counters.framesRepeated.asInt } ?? 0
        let needed = memoryRoom()?.needed ?? 0
        let uptime = clock.now() - startedAt
        state.withLock { state in
            state.history.note(
                uptime: uptime, bitrate: broadcast == nil ? 0 : state.videoBitrate, queued: queued, frames: frames,
                memory: needed)
        }
    }

    private func requireBroadcast() throws(CommandRefusal) {
        let isRunning = state.withLock { $0.broadcast != nil && $0.closer == nil }
        guard isRunning else {
            throw CommandRefusal(code: .noBroadcast, sentence: "no broadcast is running")
        }
    }
}
