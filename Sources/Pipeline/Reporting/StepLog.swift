internal import Adaptation
internal import Logging
internal import MediaCore

extension BitrateStep {
    /// - Parameter configured: bits a second where the network carries everything.
    func log(to logger: Logger, configured: Int) {
        logger.log(
            level: bitrate == configured ? .info : .notice, "video bitrate changed",
            metadata: [
                "kbit_s": "\(bitrate / 1000)", "why": "\(reason)",
                "frames": "\(frameRateDivisor == 1 ? "all" : "1 of \(frameRateDivisor)")",
            ])
    }
}

extension EffortStep {
    func log(to logger: Logger) {
        var metadata: Logger.Metadata = ["effort": "\(effort.rawValue)", "busy_percent": "\(busyPercent)"]
        if superseded > 0 { metadata["superseded"] = "\(superseded)" }
        if isLower {
            metadata["why"] = "the processor is short"
            logger.warning("encoder effort lowered", metadata: metadata)
        } else {
            metadata["why"] = "the processor has room again"
            logger.notice("encoder effort raised", metadata: metadata)
        }
    }
}
