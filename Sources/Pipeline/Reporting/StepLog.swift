internal import Adaptation
internal import ControlProtocol
internal import Logging
internal import MediaCore

extension BitrateStep {
    /// - Parameter configured: the bits per second without limits by the network.
    func log(to logger: Logger, configured: Int) {
        logger.tell(
            .videoBitrateChanged(
                kilobitsPerSecond: bitrate / 1000, frameRateDivisor: frameRateDivisor, why: reason,
                isFull: bitrate == configured))
    }
}

extension EffortStep {
    func log(to logger: Logger) {
        logger.tell(
            isLower
                ? .encoderEffortLowered(effort: effort, busyPercent: busyPercent, superseded: superseded)
                : .encoderEffortRaised(effort: effort, busyPercent: busyPercent, superseded: superseded))
    }
}
