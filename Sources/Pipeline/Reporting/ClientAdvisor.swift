internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// The `ClientAdvice` of one broadcast. Any thread.
final class ClientAdvisor: Sendable {
    private let advice = Monitor(ClientAdvice())
    private let broadcast: Broadcast
    private let clock: any TimeSource
    private let maxFrameRate: Double
    private let notify: @Sendable (StateMessage) -> Void

    /// - Parameters:
    ///   - maxFrameRate: the canvas's frame rate, per second.
    ///   - notify: sends a message to the client; must not wait.
    init(
        _ broadcast: Broadcast, maxFrameRate: Double, clock: any TimeSource,
        notify: @escaping @Sendable (StateMessage) -> Void
    ) {
        (self.broadcast, self.maxFrameRate, self.clock, self.notify) = (broadcast, maxFrameRate, clock, notify)
    }

    /// Call it when a destination has changed.
    func look() {
        let figures = broadcast.destinations.adviceFigures(at: clock.now())
        if let message = advice.withLock({ $0.look(figures) }) { notify(message) }
    }

    /// Call it once a second.
    func tick() {
        let (figures, frames) = (broadcast.destinations.adviceFigures(at: clock.now()), broadcast.frameFigures)
        if let message = advice.withLock({ $0.tick(figures, frames, maxFrameRate: maxFrameRate) }) { notify(message) }
    }
}
