internal import LinuxSystem

/// What a destination that waits for its next attempt listens to: "retry now", and the machine's network coming back.
///
/// `signal` comes from any thread, the rest from the destination's.
final class RetrySignal: Sendable {
    private let command: EventDescriptor
    /// A sandbox may forbid it; then only the clock and commands bring attempts.
    private let network: NetworkWatch?
    private let both: DescriptorSet

    init() throws(Errno) {
        command = try EventDescriptor()
        network = try? NetworkWatch()
        both = try DescriptorSet([command.raw] + (network.map { [$0.raw] } ?? []))
    }

    /// Readable when there is something to `take`.
    var descriptor: CInt { both.raw }

    func signal() { command.signal() }

    enum Reason {
        /// `signal` was called.
        case asked
        /// The machine has got an address or a route.
        case network
    }

    /// What has come since the last call; nil for nothing.
    func take() -> Reason? {
        let networkCame = network?.take() ?? false
        return command.clear() ? .asked : networkCame ? .network : nil
    }
}
