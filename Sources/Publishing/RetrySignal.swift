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

    /// What has come since the last call, in words, or nil.
    func take() -> String? {
        let networkCame = network?.take() ?? false
        return command.clear() ? "as asked" : networkCame ? "because the machine's network has changed" : nil
    }
}
