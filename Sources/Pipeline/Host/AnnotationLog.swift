internal import ControlProtocol
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// Logs clients' annotations, up to a limit per second, because a client can send thousands. Any thread.
final class AnnotationLog: Sendable {
    static let linesPerSecond = 10

    private struct Second {
        var start = MediaTime.zero
        var count = 0
    }
    private let second = Monitor(Second())
    private let logger: Logger
    private let clock: any TimeSource

    init(_ logger: Logger, clock: any TimeSource) { (self.logger, self.clock) = (logger, clock) }

    func note(_ message: AnnotatedMessage) {
        let now = clock.now()
        let count = second.withLock { second in
            if now - second.start >= .seconds(1) { second = Second(start: now) }
            second.count += 1
            return second.count
        }
        switch count {
        case ...Self.linesPerSecond:
            logger.tell(.annotated(key: message.key, value: message.value))
        case Self.linesPerSecond + 1:
            logger.tell(.annotationsLeftOut(loggedPerSecond: Self.linesPerSecond))
        default: break
        }
    }
}
