internal import Configuration
internal import ControlProtocol
internal import Encoding
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// Keeps one broadcast under the memory limit: lets it give up parts when memory is short, before the kernel kills the
/// process, and take them back later. Any thread.
final class MemoryWatch: Sendable {
    private let state: Monitor<MemoryGovernor>
    private let broadcast: Broadcast
    private let room: @Sendable () -> MemoryRoom?
    private let clock: any TimeSource
    private let logger: Logger

    /// - Parameter room: returns the memory that is left; nil if it is unknown.
    init(
        _ broadcast: Broadcast, room: @escaping @Sendable () -> MemoryRoom?, clock: any TimeSource, logger: Logger
    ) {
        (self.broadcast, self.room, self.clock, self.logger) = (broadcast, room, clock, logger)
        state = Monitor(MemoryGovernor(steps: broadcast.savings.steps))
    }

    var governor: MemoryGovernor { state.withLock { $0 } }

    /// Called several times a second by the main thread.
    func look() {
        guard let room = room(), let move = state.withLock({ $0.look(room, at: clock.now()) }) else { return }
        let isDone = broadcast.giveUp(governor.current.map(\.step))
        log(move, room, isDone: isDone)
    }

    private func log(_ move: MemoryGovernor.Move, _ room: MemoryRoom, isDone: Bool) {
        func moved(_ step: MemoryStep, _ now: String) -> DaemonEvent.MemoryMove {
            DaemonEvent.MemoryMove(
                step: step, now: now, limit: room.bound, limitBytes: room.limit, leftBytes: room.left,
                isDone: isDone)
        }
        switch move {
        case .giveUp(let step): logger.tell(.memoryIsShort(moved(step, step.whatIsGivenUp)))
        case .takeBack(let step): logger.tell(.memoryIsEnoughAgain(moved(step, step.whatIsTakenBack)))
        }
    }
}

extension MemoryStep {
    fileprivate var whatIsGivenUp: String {
        switch self {
        case .halfLog: "the packet log holds half, and a delay no more than that"
        case .leastLog: "the packet log holds no more than a late destination needs, and no delay"
        case .twoPictures: "there are two pictures instead of three"
        case .oneThread: "the encoder is opened again with one thread"
        case .noSubpixelMotion:
            "the encoder is opened again without subpixel motion: the same picture needs \(bitratePercent) % more "
                + "bitrate"
        }
    }

    fileprivate var whatIsTakenBack: String {
        switch self {
        case .halfLog: "the packet log is as large as configured"
        case .leastLog: "the packet log holds half"
        case .twoPictures: "there are three pictures"
        case .oneThread: "the encoder is opened again with all its threads"
        case .noSubpixelMotion: "the encoder is opened again with subpixel motion"
        }
    }
}
